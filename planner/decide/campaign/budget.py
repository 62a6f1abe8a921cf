"""The budget of a campaign."""

from __future__ import annotations

from planner.model.plan.plan import CampaignLimits
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval


def budget_of(limits: CampaignLimits) -> Quantity | None:
    """Return the budget in USD; None without one."""
    if limits.budget_usd is None:
        return None
    return to_quantity(Interval.exact(limits.budget_usd), Unit.USD, Basis.QUOTED, "the plan: campaign.budget_usd")
