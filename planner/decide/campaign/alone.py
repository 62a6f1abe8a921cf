"""Estimate a plan's campaign on each of its options alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from planner.decide.campaign.budget import budget_of, limits_in_usd
from planner.decide.campaign.run_groups import Runs, run_groups
from planner.decide.campaign.side_by_side import Hurry, option_alone
from planner.decide.options.estimate_plan import Estimated, estimate_options
from planner.model.answer.option_estimate import CampaignOption
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.plan import Plan
from planner.model.quantity import Quantity


@dataclass(frozen=True)
class Alone:
    """Every option, estimated for one training and for the whole campaign."""

    estimated: Estimated
    options: tuple[CampaignOption, ...]
    """Options, with several trainings at once if one after another misses a limit. Mixes are made of these."""
    hurries: tuple[Hurry | None, ...]
    """Reason why several run at once on each option."""
    groups: tuple[Runs, ...]
    limits: CampaignLimits
    """Limits, with the budget in USD."""
    budget: Quantity | None
    currency: Currency | None = None
    """Currency of the plan."""


def each_alone(plan: Plan, catalog: Catalog, *, today: date, estimated: Estimated | None = None) -> Alone:
    """Run the plan's campaign on each option alone, with its chances.

    `estimated`: estimates of its options that exist already (`estimate_options`, `without_limits`).
    """
    budget, limits = budget_of(plan.campaign, plan.currency), limits_in_usd(plan.campaign, plan.currency)
    if estimated is None:
        estimated = estimate_options(plan, catalog, today=today)
    groups = run_groups(plan, catalog)
    options = [
        option_alone(option, limits, catalog, budget=budget, groups=groups, today=today, currency=plan.currency)
        for option in estimated.options
    ]
    made, hurries = tuple(alone.option for alone in options), tuple(alone.hurry for alone in options)
    return Alone(estimated, made, hurries, groups, limits, budget, plan.currency)
