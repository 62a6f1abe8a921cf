"""A plan, a catalog and a day in; the comparison of its options out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from planner.decide.campaign.alone import Alone, each_alone
from planner.decide.options.estimate_plan import Paced
from planner.decide.recommend.compare import compare
from planner.model.answer.documents import CampaignDocument, ComparisonDocument
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan


def run_campaign(
    plan: Plan, catalog: Catalog, *, today: date, paced: Sequence[Paced] | None = None
) -> CampaignDocument:
    """Run the plan's campaign on each option alone, with its chances; `paced`: as of `estimate_options`."""
    return campaign_document(plan, each_alone(plan, catalog, today=today, paced=paced))


def campaign_document(plan: Plan, alone: Alone) -> CampaignDocument:
    """Return the campaign on each option alone, as an answer."""
    return CampaignDocument(
        plan=plan.name,
        currency=plan.currency,
        assumptions=alone.estimated.document.assumptions,
        notes=alone.estimated.document.notes,
        runs=plan.campaign.runs,
        options=alone.options,
    )


def answer_plan(
    plan: Plan, catalog: Catalog, *, today: date, paced: Sequence[Paced] | None = None
) -> ComparisonDocument:
    """Rank the options under the plan's limits and recommend one; `paced`: as of `estimate_options`."""
    alone = each_alone(plan, catalog, today=today, paced=paced)
    return compare(campaign_document(plan, alone), alone.limits, today=today)
