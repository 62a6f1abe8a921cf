"""Tell which of several plans is the best."""

from __future__ import annotations

from collections.abc import Sequence

from planner.decide.campaign.alone import Alone
from planner.decide.placement.chosen import Chosen
from planner.decide.placement.instance import Objective

CHEAPER = 1 - 1e-3
"""Factor by which a plan must be better than another: less is the error of the draws."""


def weighed(plan: Chosen, alone: Alone, objective: Objective) -> tuple[float, float]:
    """Return what plans are compared by, least first: cost at the confidence, with waiting, and likely hours."""
    usd, hours = plan.ranking_usd(alone.limits), plan.plan.hours.value
    return (hours, usd) if objective is Objective.TIME else (usd, hours)


def best_of(plans: Sequence[Chosen], alone: Alone, objective: Objective) -> Chosen | None:
    """Return the best of some plans: of those as cheap as the cheapest the fastest, or the other way round."""
    values = [weighed(plan, alone, objective) for plan in plans]
    least = min((value for value, _ in values), default=0.0)
    near = [(other, value, number) for number, (value, other) in enumerate(values) if value * CHEAPER <= least]
    return plans[min(near)[2]] if near else None
