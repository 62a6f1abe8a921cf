"""A plan, a catalog and a day in; the comparison of its options out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from planner.decide.campaign.budget import budget_of, limits_in_usd
from planner.decide.campaign.campaign import campaign_option
from planner.decide.campaign.chances import with_chances
from planner.decide.options.estimate_plan import Paced, estimate_options
from planner.decide.recommend.compare import compare
from planner.model.answer.documents import CampaignDocument, ComparisonDocument
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan


def run_campaign(
    plan: Plan, catalog: Catalog, *, today: date, paced: Sequence[Paced] | None = None
) -> CampaignDocument:
    """Run the plan's campaign on each option alone, with its chances; `paced`: as of `estimate_options`."""
    budget, limits = budget_of(plan.campaign, plan.currency), limits_in_usd(plan.campaign, plan.currency)
    estimated = estimate_options(plan, catalog, today=today, paced=paced)
    return CampaignDocument(
        plan=plan.name,
        currency=plan.currency,
        assumptions=estimated.document.assumptions,
        notes=estimated.document.notes,
        runs=plan.campaign.runs,
        options=tuple(
            with_chances(
                campaign_option(option, limits, catalog, today=today),
                limits,
                budget=budget,
                today=today,
            )
            for option in estimated.options
        ),
    )


def answer_plan(
    plan: Plan, catalog: Catalog, *, today: date, paced: Sequence[Paced] | None = None
) -> ComparisonDocument:
    """Rank the options under the plan's limits and recommend one; `paced`: as of `estimate_options`."""
    limits = limits_in_usd(plan.campaign, plan.currency)
    return compare(run_campaign(plan, catalog, today=today, paced=paced), limits, today=today)
