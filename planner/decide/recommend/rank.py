"""The order of the options under the plan's deadline and budget."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.decide.recommend.pareto import is_known, is_priced
from planner.model.answer.documents import CampaignOption
from planner.model.plan.plan import CampaignLimits, Prefer


def is_feasible(option: CampaignOption) -> bool:
    """Return whether the option is known, allowed, and meets deadline and budget, by its most likely values.

    Where only its money is known, it is feasible without a deadline.
    """
    known = is_known(option) or is_priced(option)
    return known and option.not_allowed is None and bool(option.meets_deadline) and bool(option.within_budget)


def is_comparable(option: CampaignOption, limits: CampaignLimits) -> bool:
    """Return whether the option can be put in order: money and time are known, or nothing asks for its time.

    Nothing does where money decides and there is no deadline.
    """
    timeless = limits.deadline is None and preference(limits) is Prefer.COST
    return is_known(option) or (timeless and is_priced(option))


def preference(limits: CampaignLimits) -> Prefer:
    """Return what decides: the plan's choice; else time where only money is limited, cost otherwise."""
    if limits.prefer is not None:
        return limits.prefer
    return Prefer.TIME if limits.budget_usd is not None and limits.deadline is None else Prefer.COST


def ranked(options: Sequence[CampaignOption], limits: CampaignLimits, *, deadline_hours: float) -> list[CampaignOption]:
    """Return the comparable options: the feasible ones by preference, then the others by how far they miss.

    Options whose fit could not be checked come after those that are known to fit; those that the plan's limits on
    places exclude come last.
    """
    by_cost = preference(limits) is Prefer.COST

    def order(option: CampaignOption) -> tuple[bool, bool, bool, float, float, float, str]:
        assert option.campaign_usd is not None, "it is comparable"
        usd, hours = option.campaign_usd.value, option.campaign_hours.value if option.campaign_hours else math.inf
        feasible = is_feasible(option)
        miss = 0.0 if feasible else excess(option, limits, deadline_hours=deadline_hours)
        first, second = (usd, hours) if by_cost else (hours, usd)
        not_allowed = option.not_allowed is not None
        return (not feasible, not_allowed, option.fits is None, miss, first, second, option.id)

    return sorted((option for option in options if is_comparable(option, limits)), key=order)


def excess(option: CampaignOption, limits: CampaignLimits, *, deadline_hours: float) -> float:
    """Return by which factor the option misses its worse limit: max(hours / limit, USD / budget).

    A budget of 0 is missed by any option that costs, infinitely.
    """
    assert option.campaign_usd is not None, "it is comparable"
    usd = option.campaign_usd.value
    hours = option.campaign_hours.value if option.campaign_hours else 0.0  # without a deadline, or it would not be here
    over_time = hours / deadline_hours if deadline_hours > 0 else float("inf")
    if limits.budget_usd is None or usd <= 0:
        return over_time
    return max(over_time, usd / limits.budget_usd if limits.budget_usd > 0 else float("inf"))
