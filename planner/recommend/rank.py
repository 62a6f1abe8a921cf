"""Puts the options in order under the plan's deadline and budget."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.answer import CampaignOption
from planner.model.plan import CampaignLimits, Prefer
from planner.recommend.pareto import hours_and_usd, is_known


def is_feasible(option: CampaignOption) -> bool:
    """Say whether the option is known, allowed, and meets deadline and budget, by its most likely values."""
    return (
        is_known(option) and option.not_allowed is None and bool(option.meets_deadline) and bool(option.within_budget)
    )


def preference(limits: CampaignLimits) -> Prefer:
    """Return what decides: the plan's choice; else time where only money is limited, cost otherwise."""
    if limits.prefer is not None:
        return limits.prefer
    return Prefer.TIME if limits.budget_usd is not None and limits.deadline is None else Prefer.COST


def ranked(options: Sequence[CampaignOption], limits: CampaignLimits, *, deadline_hours: float) -> list[CampaignOption]:
    """Return the known options: the feasible ones by preference, then the others by how far they miss.

    Options whose fit could not be checked come after those that are known to fit; those that the plan's limits on
    places rule out come last.
    """
    by_cost = preference(limits) is Prefer.COST

    def order(option: CampaignOption) -> tuple[bool, bool, bool, float, float, float, str]:
        hours, usd = hours_and_usd(option)
        feasible = is_feasible(option)
        miss = 0.0 if feasible else excess(option, limits, deadline_hours=deadline_hours)
        first, second = (usd, hours) if by_cost else (hours, usd)
        ruled_out = option.not_allowed is not None
        return (not feasible, ruled_out, option.fits is None, miss, first, second, option.id)

    return sorted((option for option in options if is_known(option)), key=order)


def excess(option: CampaignOption, limits: CampaignLimits, *, deadline_hours: float) -> float:
    """Return by which factor the option misses its worse limit: max(hours / limit, USD / budget).

    A budget of 0 is missed by any option that costs, infinitely.
    """
    hours, usd = hours_and_usd(option)
    over_time = hours / deadline_hours if deadline_hours > 0 else float("inf")
    if limits.budget_usd is None or usd <= 0:
        return over_time
    return max(over_time, usd / limits.budget_usd if limits.budget_usd > 0 else float("inf"))
