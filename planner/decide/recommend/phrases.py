"""What is said of an option in a sentence: when it is done and what it costs, at the plan's confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.decide.campaign.chances import campaign_range
from planner.decide.recommend.wording import name_of, short_amount, short_duration
from planner.model.answer.option_estimate import CampaignOption
from planner.model.currency import Currency
from planner.model.owning.hold import Hold
from planner.model.plan.plan import CampaignLimits
from planner.quantity.chance import stays_under

WORDS = 20
IN_HOURS = 48
MILLION = 1e6
IN_MILLIONS = 10 * MILLION


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

    def at_most(self, option: CampaignOption) -> str:
        """Write the cost that it stays under at the confidence, and of what it is."""
        assert option.usd_confident is not None, "it is comparable"
        if option.usd_confident == 0:
            paid = option.campaign_usd is not None and option.campaign_usd.value > 0
            return "all of it paid by credits" if paid else "nothing to pay"
        of = {Hold.HAVE: " of electricity", Hold.BUY: " in all"}.get(option.hold or Hold.RENT, "")
        return f"at most {self.up_to(option.usd_confident)}{of}"

    def up_to(self, usd: float) -> str:
        """Write an amount with three digits, never below what it is; cents below 10."""
        amount, code = self._local(usd)
        if amount < 10:
            return f"{math.ceil(amount * 100 - 1e-9) / 100:.2f} {code}"
        step = 10 ** max(0, math.floor(math.log10(amount)) - 2)
        rounded = math.ceil(amount / step - 1e-9) * step
        if self.currency is None or rounded < IN_MILLIONS:
            return f"{rounded:,.0f} {code}"
        return f"{rounded / MILLION:,.4g} million {code}"

    def done(self, option: CampaignOption) -> str | None:
        """Write when it is done at the confidence: in hours within two days, else by a day; None where not known."""
        hours = self.done_in(option)
        if hours is not None:
            return f"done in {short_duration(hours)}"
        return None if option.done_by_confident is None else f"done by {option.done_by_confident}"

    def done_in(self, option: CampaignOption) -> float | None:
        """Return the hours from today that it stays under at the confidence; None where a day says it better."""
        if option.done_by_confident is None or option.campaign_hours is None or option.wait_hours != 0:
            return None
        hours = stays_under(campaign_range(option), self.limits.confidence)
        return hours if hours < IN_HOURS else None

    def short(self, option: CampaignOption) -> str:
        """Return an option in short: its name, when it is done and its cost."""
        done = self.done(option)
        return joined([name_of(option), *([done] if done else []), self.at_most(option)])

    def _local(self, usd: float) -> tuple[float, str]:
        if self.currency is None:
            return usd, "USD"
        return usd * self.currency.per_usd, self.currency.code


def joined(parts: Sequence[str], *, optional: Sequence[str] = ()) -> str:
    """Return a sentence of the parts, with as many of the optional ones as twenty words hold."""
    text = ", ".join(parts)
    for part in optional:
        longer = f"{text}, {part}"
        text = longer if len(longer.split()) <= WORDS else text
    return f"{text}."
