"""Compare the options of a plan on a day, and recommend one or a mix of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from planner.decide.campaign.alone import Alone, each_alone, twice_at_once
from planner.decide.options.estimate_plan import Estimated, Paced, estimate_options
from planner.decide.recommend.compare import compare
from planner.decide.recommend.may_mix import may_mix
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.rank import is_feasible
from planner.decide.recommend.row_notes import at_once_note
from planner.model.answer.documents import CampaignDocument, ComparisonDocument
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan

if TYPE_CHECKING:
    from planner.decide.recommend.mix import Mixes


def campaign_document(plan: Plan, alone: Alone) -> CampaignDocument:
    """Return the campaign on each option alone, as an answer."""
    said = at_once_note(alone.options, alone.hurries, Phrases(alone.limits, plan.currency))
    return CampaignDocument(
        plan=plan.name,
        currency=plan.currency,
        assumptions=alone.estimated.document.assumptions,
        notes=(*alone.estimated.document.notes, *([said] if said is not None else [])),
        runs=plan.campaign.runs,
        options=alone.options,
    )


def answer_plan(plan: Plan, catalog: Catalog, *, today: date, estimated: Estimated | None = None) -> ComparisonDocument:
    """Rank the options under the plan's limits and recommend one, or a mix of them.

    `estimated`: estimates that exist already, as in `each_alone`. The solver is imported only if a mix may be better.
    """
    alone = each_alone(plan, catalog, today=today, estimated=estimated)
    if not may_mix(alone):
        return _with_sooner(_compared(plan, catalog, alone, today=today), alone, catalog, today=today)
    from planner.decide.recommend.mix import mixes_of, with_mix

    mixes = mixes_of(plan, alone, catalog, today=today)
    document = _compared(plan, catalog, alone, today=today, mixes=mixes)
    if mixes.best is None:
        return _with_sooner(document, alone, catalog, today=today)
    return with_mix(document, mixes.best, alone.limits)


def _with_sooner(document: ComparisonDocument, alone: Alone, catalog: Catalog, *, today: date) -> ComparisonDocument:
    notes = (*sooner_notes(document.recommended, alone, catalog, today=today), *document.notes)
    return document.model_copy(update={"notes": notes})


def sooner_notes(option: str | None, alone: Alone, catalog: Catalog, *, today: date) -> Iterator[str]:
    """Yield what twice as many trainings at once on the advised option bring, if they end sooner and cost no more."""
    pairs = zip(alone.estimated.options, alone.options, strict=True)
    advised = next((pair for pair in pairs if pair[1].id == option), None)
    sooner = twice_at_once(*advised, alone, catalog, today=today) if advised is not None else None
    if sooner is not None and is_feasible(sooner):
        short = Phrases(alone.limits, alone.currency).short(sooner)
        yield f"sooner for about the same cost: {short.removesuffix('.')}"


def rank_alone(plan: Plan, catalog: Catalog, *, today: date, estimated: Estimated | None = None) -> ComparisonDocument:
    """Rank the options and recommend one, without looking for a mix; `estimated` is that of `each_alone`."""
    alone = each_alone(plan, catalog, today=today, estimated=estimated)
    return _compared(plan, catalog, alone, today=today)


def _compared(
    plan: Plan, catalog: Catalog, alone: Alone, *, today: date, mixes: Mixes | None = None
) -> ComparisonDocument:
    """Compare the options; if the first one divides the network, compare also with all networks undivided."""
    campaign = campaign_document(plan, alone)
    document = compare(campaign, alone.limits, today=today, mixes=mixes)
    first = next((estimate for estimate in alone.estimated.options if estimate.option.id == document.recommended), None)
    if first is None or first.speed is None or first.speed.whole is None:
        return document
    paced = [
        Paced(*estimate.speed.whole) if estimate.speed.whole else Paced(estimate.candidate, estimate.speed)
        for estimate in alone.estimated.options
        if estimate.candidate is not None and estimate.speed is not None
    ]
    if len(paced) == len(plan.options):  # of `find`: numbered when others had not been left out yet
        paced = [Paced(replace(pace.candidate, position=place), pace.speed) for place, pace in enumerate(paced)]
    estimated = estimate_options(plan, catalog, today=today, paced=paced)
    left_whole = campaign_document(plan, each_alone(plan, catalog, today=today, estimated=estimated))
    return compare(campaign, alone.limits, today=today, left_whole=left_whole, mixes=mixes)
