"""A plan's campaign on each of its options alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from planner.decide.campaign.budget import budget_of, limits_in_usd
from planner.decide.campaign.run_groups import Runs, run_groups
from planner.decide.campaign.side_by_side import option_alone
from planner.decide.options.estimate_plan import Estimated, estimate_options
from planner.model.answer.option_estimate import CampaignOption
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.plan.plan import CampaignLimits, Plan
from planner.model.quantity import Quantity


@dataclass(frozen=True)
class Alone:
    """Every option, estimated for one training and for the whole campaign."""

    estimated: Estimated
    options: tuple[CampaignOption, ...]
    """Several trainings at once where one after another misses the deadline (`side_by_side.py`)."""
    as_asked: tuple[CampaignOption, ...]
    """As many at once as the plan says; mixes are made of these."""
    groups: tuple[Runs, ...]
    limits: CampaignLimits
    """With the budget in USD."""
    budget: Quantity | None
    currency: Currency | None = None
    """The plan's own."""


def each_alone(plan: Plan, catalog: Catalog, *, today: date, estimated: Estimated | None = None) -> Alone:
    """Run the plan's campaign on each option alone, with its chances.

    `estimated`: its options, where they are estimated already (`estimate_options`, `without_limits`).
    """
    budget, limits = budget_of(plan.campaign, plan.currency), limits_in_usd(plan.campaign, plan.currency)
    if estimated is None:
        estimated = estimate_options(plan, catalog, today=today)
    groups = run_groups(plan, catalog)
    options = [
        option_alone(option, limits, catalog, budget=budget, groups=groups, today=today, currency=plan.currency)
        for option in estimated.options
    ]
    in_time, as_asked = tuple(one.in_time for one in options), tuple(one.as_asked for one in options)
    return Alone(estimated, in_time, as_asked, groups, limits, budget, plan.currency)
