"""Convert a campaign's budget to USD."""

from __future__ import annotations

from planner.model.currency import Currency
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.cents import local_to_usd
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval


def budget_of(limits: CampaignLimits, currency: Currency | None = None) -> Quantity | None:
    """Return the budget in USD, from the plan's own currency with the range of its rate; None without a budget."""
    usd, local = limits.budget_usd, limits.budget_local
    if usd is not None:
        return to_quantity(Interval.exact(usd), Unit.USD, Basis.QUOTED, "the plan: campaign.budget_usd")
    if local is None:
        return None
    assert currency is not None, "the plan's model asks for it"
    return local_to_usd(local, currency, Unit.USD, Basis.QUOTED, "the plan: campaign.budget_local")


def limits_in_usd(limits: CampaignLimits, currency: Currency | None) -> CampaignLimits:
    """Return the limits with the budget in USD; a budget in the plan's own currency is converted at the rate."""
    if limits.budget_local is None:
        return limits
    budget = budget_of(limits, currency)
    assert budget is not None, "a budget in the plan's currency is one"
    return limits.model_copy(update={"budget_usd": budget.value, "budget_local": None})
