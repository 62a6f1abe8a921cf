"""Estimate a plan's campaign on each of its options alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from planner.decide.campaign.budget import budget_of, limits_in_usd
from planner.decide.campaign.chances import ranking_usd
from planner.decide.campaign.run_groups import Runs, run_groups
from planner.decide.campaign.side_by_side import CLEARLY, Hurry, may_vary, most_at_once, option_alone
from planner.decide.options.estimate_plan import Estimated, estimate_options
from planner.decide.options.option import EstimatedOption
from planner.model.answer.option_estimate import CampaignOption
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.owning.acquisition import Hold
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


def twice_at_once(
    estimated: EstimatedOption, option: CampaignOption, alone: Alone, catalog: Catalog, *, today: date
) -> CampaignOption | None:
    """Return the campaign on a rented or used option with twice as many trainings at once.

    None if there may not be that many, or if it does not end on an earlier day or costs over 2 % more at the
    confidence.
    """
    limits, sets = alone.limits, min(2 * option.at_once, alone.limits.runs)
    if option.hold not in (Hold.RENT, Hold.USE) or sets <= option.at_once or not may_vary(estimated, limits):
        return None
    if sets > most_at_once(estimated, option, limits):
        return None
    asked = limits.model_copy(update={"at_once": sets})
    found = option_alone(
        estimated, asked, catalog, budget=alone.budget, groups=alone.groups, today=today, currency=alone.currency
    ).option
    before, after = option.done_by_confident, found.done_by_confident
    if before is None or after is None or after >= before or found.usd_confident is None:
        return None
    return found if ranking_usd(found) * (1 - CLEARLY) <= ranking_usd(option) else None
