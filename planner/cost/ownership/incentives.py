"""Public incentives: which lines count, and the value of each for one node."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from planner.model.owning.acquisition import Incentive, IncentiveKind


@dataclass(frozen=True)
class AppliedIncentive:
    """One line, with its value or the reason why it does not count."""

    incentive: Incentive
    usd: float | None
    """Value for one node. None if it does not count, or if it shifts taxes in time instead of paying a sum."""
    counts: bool
    reason: str


def apply_incentives(
    incentives: tuple[Incentive, ...], *, server_usd: float, capex_usd: float, on: date
) -> tuple[AppliedIncentive, ...]:
    """Evaluate each line on its own.

    USD = min(rate x base, cap), base being the server's price or the whole capex of one node

    A line counts if the site says `eligible` and it has not expired on the site's day. Rules about combining lines are
    unknown here: leave out lines that the law does not allow together.
    """
    return tuple(_apply(line, server_usd=server_usd, capex_usd=capex_usd, on=on) for line in incentives)


def _apply(line: Incentive, *, server_usd: float, capex_usd: float, on: date) -> AppliedIncentive:
    if not line.eligible:
        return AppliedIncentive(line, None, False, f"not counted: eligible: true is not stated ({line.eligibility})")
    if line.expires is not None and line.expires < on:
        return AppliedIncentive(line, None, False, f"not counted: it expired on {line.expires}, before {on}")
    base = server_usd if line.base == "server" else capex_usd
    if line.rate is None:
        years = ", ".join(f"{share:.2%}".replace("%", " %") for share in line.schedule_fractions)
        return AppliedIncentive(line, None, True, f"written off by year: {years}")
    usd = line.rate.value * base
    if line.cap_usd is not None and usd > line.cap_usd.value:
        return AppliedIncentive(line, line.cap_usd.value, True, f"capped at {line.cap_usd.value:,.0f} USD")
    return AppliedIncentive(line, usd, True, f"{line.rate.value:g} x {base:,.0f} USD of {line.base}")


def sum_of(applied: tuple[AppliedIncentive, ...], kind: IncentiveKind) -> float:
    """Add up the values of one kind of line."""
    return sum(line.usd for line in applied if line.usd is not None and line.incentive.kind is kind)


def schedule_of(applied: tuple[AppliedIncentive, ...]) -> tuple[float, ...]:
    """Return the first accelerated schedule that counts; empty: straight line."""
    schedules = (line.incentive.schedule_fractions for line in applied if line.counts)
    return next((schedule for schedule in schedules if schedule), ())
