"""Write parts of sentences about an option: when it is done and its cost, at the plan's confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from planner.decide.options.display_name import name_of
from planner.decide.recommend.wording import short_amount, short_duration, three_digits_up, up_to_amount
from planner.model.answer.option_estimate import CampaignOption
from planner.model.currency import Currency, minor_digits
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import Quantity

WORDS = 20
IN_HOURS = 48
FULL_CENTS = 100
MILLION = 1e6
IN_MILLIONS = 10 * MILLION


class Promised(Protocol):
    """A plan, or an option, with what it costs at the confidence."""

    @property
    def usd_confident(self) -> float | None:
        """USD that remain to pay."""

    @property
    def local_confident(self) -> float | None:
        """`usd_confident` in the plan's own currency; None without one, or in an older answer."""


def nothing_to_pay(plan: Promised, *, bill: Quantity | None) -> str | None:
    """Return in words that nothing has to be paid at the confidence; None where something has.

    `bill`: its cost before credits.
    """
    if plan.usd_confident != 0:
        return None
    return "all of it paid by credits" if bill is not None and bill.value > 0 else "nothing to pay"


@dataclass(frozen=True)
class Phrases:
    """The phrases of one answer, in the plan's currency where it has one."""

    limits: CampaignLimits
    currency: Currency | None = None

    def money(self, usd: float) -> str:
        """Write an amount with three digits: 4,600 USD; 52.6 million KRW."""
        amount, code = self._local(usd)
        if self.currency is None or abs(amount) < IN_MILLIONS:
            return f"{short_amount(amount)} {code}"
        return f"{float(f'{amount:.3g}') / MILLION:,.4g} million {code}"

    def full(self, usd: float) -> str:
        """Write an amount to the whole unit, with cents below 100: 45.20 USD; 4,355,800 KRW."""
        amount, code = self._local(usd)
        return f"{amount:,.{minor_digits(code) if abs(amount) < FULL_CENTS else 0}f} {code}"

    def at_most(self, option: CampaignOption) -> str:
        """Write the upper bound of its cost at the confidence, and what it is paid for."""
        assert option.usd_confident is not None, "it is comparable"
        nothing = nothing_to_pay(option, bill=option.campaign_usd)
        of = {Hold.HAVE: " of electricity", Hold.BUY: " in all"}.get(option.hold or Hold.RENT, "")
        return nothing or f"at most {self.most(option)}{of}"

    def most(self, plan: Promised) -> str:
        """Write the upper bound of a plan's cost at the confidence, in its currency with the error of the rate."""
        assert plan.usd_confident is not None, "its cost is known"
        if self.currency is None or plan.local_confident is None:
            return self.up_to(plan.usd_confident)
        return self._rounded_up(plan.local_confident, self.currency.code)

    def up_to(self, usd: float) -> str:
        """Write an amount with three digits, never below what it is; cents below 10."""
        return self._rounded_up(*self._local(usd))

    def _rounded_up(self, amount: float, code: str) -> str:
        if self.currency is None or amount < IN_MILLIONS:
            return f"{up_to_amount(amount)} {code}"
        return f"{three_digits_up(amount) / MILLION:,.4g} million {code}"

    def done(self, option: CampaignOption) -> str | None:
        """Write when it is done at the confidence: in hours within two days, else by a day; None if unknown."""
        hours = self.done_in(option)
        if hours is not None:
            return f"done in {short_duration(hours)}"
        return None if option.done_by_confident is None else f"done by {option.done_by_confident}"

    def done_in(self, option: CampaignOption) -> float | None:
        """Return the hours from today within which it is done at the confidence; None if a day is written instead."""
        hours = option.hours_confident
        return hours if hours is not None and option.wait_hours == 0 and hours < IN_HOURS else None

    def short(self, option: CampaignOption) -> str:
        """Return an option in short: its name, when it is done and its cost."""
        done = self.done(option)
        return joined([name_of(option), *([done] if done else []), self.at_most(option)])

    def _local(self, usd: float) -> tuple[float, str]:
        if self.currency is None:
            return usd, "USD"
        return usd * self.currency.per_usd, self.currency.code


def joined(parts: Sequence[str], *, optional: Sequence[str] = (), between: str = ", ") -> str:
    """Return a sentence of the parts, with as many of the optional ones as twenty words hold."""
    text = between.join(parts)
    for part in optional:
        longer = f"{text}{between}{part}"
        text = longer if len(longer.split()) <= WORDS else text
    return f"{text}."
