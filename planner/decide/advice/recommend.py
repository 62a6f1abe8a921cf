"""Recommend an option for a plan: why not another, how sure the answer is, and what would change it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date

from planner.decide.advice.alternatives import alternatives
from planner.decide.advice.busy_share import busy_points
from planner.decide.advice.case import CONFIDENCES, Case
from planner.decide.advice.inputs import moved_inputs
from planner.decide.advice.launch_words import AskedPlan
from planner.decide.advice.measuring import ValuedRun, worth_measuring
from planner.decide.advice.near_options import NearOptions
from planner.decide.advice.option_rule import OptionRule
from planner.decide.advice.recommend_mix import NOT_MEASURED, mix_at_confidences, mix_placements, recommend_mix
from planner.decide.advice.suggested import suggested, worth_making
from planner.decide.advice.turning import distance, swing, turning_points, width
from planner.decide.campaign.budget import budget_of
from planner.decide.campaign.chances import hours_to
from planner.decide.options.display_name import name_of
from planner.decide.options.estimate_plan import Paced
from planner.decide.options.part_notes import quote_notes
from planner.decide.outcomes.option_outcomes import outcomes_of
from planner.decide.recommend.answer_plan import campaign_document, sooner_notes
from planner.decide.recommend.compare import compare
from planner.decide.recommend.mix import mixes_of, with_mix
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.rank import ranked
from planner.decide.recommend.row_notes import rule_notes, term_note, waiting_note
from planner.decide.recommend.sooner_mix import RejectedMix, sooner_mix_note, uneven_note
from planner.duration.calendar import Calendar
from planner.model.answer.campaign import SimulatedCampaign
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.recommendation import (
    AtConfidence,
    InputSwing,
    PlannedRuns,
    RecommendationDocument,
    SuggestedMeasurement,
)
from planner.model.catalog import Catalog
from planner.model.plan.campaign_limits import CampaignLimits, Prefer
from planner.model.plan.plan import Plan
from planner.quantity.cents import old_rate_note

WORTH_SAYING = math.log(1.01)
"""Inputs that move the cost by less, and do not turn the decision, are left out."""


def recommend(
    plan: Plan, catalog: Catalog, *, today: date, asked: AskedPlan, paced: Sequence[Paced] | None = None
) -> RecommendationDocument:
    """Answer a plan with listed options as `compare` does, and say how firmly the answer stands.

    `asked` names the plan and the answer in the commands of measurements. `paced`: its machines with speeds, if known.
    """
    case = Case.of(plan, catalog, today=today, paced=paced)
    alone = case.alone()
    limits, options = case.limits, alone.options
    mixes = mixes_of(plan, alone, catalog, today=today)
    chosen_mix, kept_mix = mixes.best, mixes.recommended
    compared = compare(campaign_document(plan, alone), limits, today=today, mixes=mixes)
    document = with_mix(compared, chosen_mix, limits)
    by_id = {option.id: option for option in options}
    chosen = by_id.get(document.recommended or document.nearest or "")
    if kept_mix is not None:
        return recommend_mix(case, alone, kept_mix, document, asked=asked)
    near = NearOptions.of(case, options)
    rule = None if limits.prefer is Prefer.TIME else OptionRule.of(near.case, near.options)
    regret, valued = (None, []) if rule is None else worth_measuring(rule, near.case)
    order = [by_id[option.id] for option in document.options if option.rank]
    inputs = [] if chosen is None or chosen_mix is not None else moved_inputs(near.case, near.options, order)
    swings = [swing(near.case, near.options, moved) for moved in inputs]
    turning = [point for moved in inputs for point in turning_points(near.case, near.options, moved)]
    turning += busy_points(case)
    return RecommendationDocument(
        answer_id=asked.answer_id,
        plan=document.plan,
        currency=document.currency,
        runs=document.runs,
        deadline=document.deadline,
        budget_usd=document.budget_usd,
        confidence=limits.confidence,
        recommended=document.recommended,
        nearest=document.nearest,
        headline=document.headline,
        sentence=document.sentence,
        placements=_placements(chosen, limits) if chosen_mix is None else mix_placements(chosen_mix),
        chance_both=chosen_mix.chance_both if chosen_mix is not None else chosen.chance_both if chosen else None,
        simulated=_simulated(near.case, chosen) if chosen_mix is None else chosen_mix.summary(),
        regret_usd=regret,
        measurements=tuple(_measurements(case, document, valued, asked)),
        turning_points=tuple(sorted(turning, key=distance)),
        swings=_notable_swings(swings, chosen),
        at_confidence=_at_confidences(case) if chosen_mix is None else mix_at_confidences(case, alone, chosen_mix),
        alternatives=alternatives(document),
        notes=(
            *(sooner_notes(document.recommended, alone, catalog, today=today) if chosen_mix is None else ()),
            *filter(None, [uneven_note(mixes.uneven, Phrases(limits, plan.currency))]),
            *_notes(case, options, by_id.get(document.recommended or ""), mixes.rejected, near.note),
        ),
    )


def _placements(chosen: CampaignOption | None, limits: CampaignLimits) -> tuple[PlannedRuns, ...]:
    owed = None if chosen is None else chosen.payable_usd
    if chosen is None or owed is None or chosen.ready_on is None or chosen.done_by is None:
        return ()
    nodes = None if chosen.nodes is None else chosen.nodes * min(chosen.at_once, limits.runs)
    start = max(chosen.ready_on, limits.start or chosen.ready_on)
    return (
        PlannedRuns(
            option=chosen.id, display_name=name_of(chosen), runs=limits.runs, nodes=nodes,
            start=start, end=chosen.done_by, usd=owed,
        ),
    )  # fmt: skip


def _simulated(case: Case, chosen: CampaignOption | None) -> SimulatedCampaign | None:
    if chosen is None or chosen.campaign_hours is None:
        return None
    limits, outcomes = case.limits, outcomes_of(chosen, case.limits, today=case.today)
    if outcomes.usd is None:
        return None
    return outcomes.summary(
        until=None if limits.deadline is None else hours_to(limits, today=case.today),
        budget=budget_of(case.plan.campaign, case.plan.currency),
        day=Calendar.of(limits, today=case.today).last_day,
    )


def _measurements(
    case: Case, document: ComparisonDocument, valued: Sequence[ValuedRun], asked: AskedPlan
) -> Iterator[SuggestedMeasurement]:
    """Yield the measurements that are worth more than they cost.

    If no option is recommended, the nearest option's comes first: it settles whether that one keeps the limits.
    """
    names = {option.id: name_of(option) for option in document.options}
    chosen = document.recommended or document.nearest
    for run in sorted(valued, key=lambda run: run.option.id != document.nearest):
        settles = document.recommended is None and run.option.id == document.nearest
        rivals = [names[name] for name in (chosen, *(run.instead or ())) if name is not None]
        decides = f"decides between {' and '.join(rivals)}" if len(rivals) == 2 else ""
        decides = "settles whether that keeps the limits" if settles else decides
        if settles or worth_making(run):
            yield suggested(case, run, asked, decides=decides, settles=document.recommended is None)


def _notable_swings(swings: Sequence[InputSwing], chosen: CampaignOption | None) -> tuple[InputSwing, ...]:
    """Return the inputs that move the cost of the chosen option or turn the decision, widest first."""
    if chosen is None or chosen.usd_confident is None:
        return ()
    usd = chosen.usd_confident
    turned = {
        moved.input + (moved.option or "")
        for moved in swings
        if {moved.decision_at_low, moved.decision_at_high} != {chosen.id}
    }
    notable = [
        moved for moved in swings if width(moved, usd) > WORTH_SAYING or moved.input + (moved.option or "") in turned
    ]
    return tuple(sorted(notable, key=lambda moved: (-width(moved, usd), moved.input, moved.option or "")))


def _at_confidences(case: Case) -> tuple[AtConfidence, ...]:
    """Return the recommendation at other confidences, with its extra cost over the plan's own."""
    own = case.limits.confidence
    rows = []
    for confidence in sorted({*CONFIDENCES, own}):
        there = case.with_limits(confidence=confidence)
        rows.append((confidence, there.decide(there.campaign().options)))
    base = next(decision for confidence, decision in rows if confidence == own)
    return tuple(
        AtConfidence(
            confidence=confidence,
            recommended=option.id if option and known else None,
            display_name=name_of(option) if option and known else None,
            usd=option.usd_confident if option and known else None,
            more_usd=_more(option, base.option) if option and known and base.recommended else None,
            done_by=option.done_by_confident if option and known else None,
        )
        for confidence, (option, known) in rows
    )


def _more(option: CampaignOption, base: CampaignOption | None) -> float | None:
    if base is None or base.usd_confident is None or option.usd_confident is None:
        return None
    return option.usd_confident - base.usd_confident


def _notes(
    case: Case, options: Sequence[CampaignOption], recommended: CampaignOption | None, rejected: RejectedMix | None,
    left_out: str | None,
) -> tuple[str, ...]:  # fmt: skip
    """Return the notes that `compare` has too, and one on options that were not examined."""
    until = hours_to(case.limits, today=case.today)
    order = ranked(options, case.limits, deadline_hours=until)
    phrases = Phrases(case.limits, case.plan.currency)
    waits = waiting_note(order, phrases, deadline_hours=until)
    term, rules = term_note(recommended, order, phrases), rule_notes(recommended, order, phrases)
    rate = old_rate_note(case.plan.currency, today=case.today)
    unmeasured = NOT_MEASURED if case.limits.prefer is Prefer.TIME else None
    quotes = quote_notes([] if recommended is None else [recommended], start=case.limits.start)
    sooner = sooner_mix_note(rejected, recommended, phrases)
    return tuple(filter(None, (*quotes, sooner, rate, *rules, waits, term, unmeasured, left_out)))
