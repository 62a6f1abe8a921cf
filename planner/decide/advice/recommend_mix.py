"""Recommend a mix, with how sure it is and what would change it."""

from __future__ import annotations

from datetime import timedelta

from planner.decide.advice.alternatives import alternatives
from planner.decide.advice.case import CONFIDENCES, Case
from planner.decide.advice.launch_words import AskedPlan
from planner.decide.advice.measuring import worth_measuring
from planner.decide.advice.mix_rule import MixRule
from planner.decide.advice.mixed import MixedCase
from planner.decide.advice.suggested import suggested, worth_making
from planner.decide.campaign.alone import Alone
from planner.decide.placement.chosen import Chosen
from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Objective
from planner.decide.placement.plan_campaign import surest_plan
from planner.decide.placement.question import question_of
from planner.decide.recommend.mix import EFFORT
from planner.decide.recommend.wording import ratio_text
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.recommendation import (
    Alternative,
    AtConfidence,
    PlannedRuns,
    RecommendationDocument,
)
from planner.model.plan.campaign_limits import Prefer

A_SECOND = timedelta(seconds=1)
"""A run that ends at midnight counts as ending on the day before."""
NOT_MEASURED = "time decides here: the value of a measurement is known in USD only, so none is proposed"


def recommend_mix(
    case: Case, alone: Alone, chosen: Chosen, document: ComparisonDocument, *, asked: AskedPlan
) -> RecommendationDocument:
    """Return the plan of a mix, its chances, the cost of more certainty, and what would change it."""
    objective = Objective.TIME if alone.limits.prefer is Prefer.TIME else Objective.COST
    mixed = MixedCase(case, question_of(alone, case.catalog, today=case.today), chosen, objective)
    by_cost = objective is Objective.COST
    rule = MixRule.of(mixed) if by_cost else None
    regret, valued = (None, []) if rule is None else worth_measuring(rule, case)
    return RecommendationDocument(
        answer_id=asked.answer_id,
        plan=document.plan,
        currency=document.currency,
        runs=document.runs,
        deadline=document.deadline,
        budget_usd=document.budget_usd,
        confidence=alone.limits.confidence,
        recommended=document.recommended,
        nearest=document.nearest,
        headline=document.headline,
        sentence=document.sentence,
        placements=mix_placements(chosen),
        chance_both=chosen.chance_both,
        simulated=chosen.summary(),
        regret_usd=regret,
        measurements=tuple(
            suggested(case, run, asked, decides="decides how the runs are divided")
            for run in valued
            if worth_making(run)
        ),
        turning_points=tuple(mixed.turning_points()),
        swings=tuple(mixed.swings()),
        at_confidence=mix_at_confidences(case, alone, chosen),
        alternatives=tuple(_in_mix(other, chosen) for other in alternatives(document)),
        notes=document.notes if by_cost else (*document.notes, NOT_MEASURED),
    )  # fmt: skip


def mix_placements(chosen: Chosen) -> tuple[PlannedRuns, ...]:
    """Return the runs of each option of a plan, with their days."""
    return tuple(
        PlannedRuns(
            option=placed.option, display_name=placed.name, runs=placed.runs, nodes=placed.nodes or None,
            start=placed.start.date(), end=(placed.end - A_SECOND).date(), usd=placed.usd,
        )
        for placed in chosen.plan.placements
    )  # fmt: skip


def mix_at_confidences(case: Case, alone: Alone, chosen: Chosen) -> tuple[AtConfidence, ...]:
    """Return the best plan at other confidences, with its extra cost over the plan's own."""
    own, rows = alone.limits.confidence, []
    objective = Objective.TIME if alone.limits.prefer is Prefer.TIME else Objective.COST
    for confidence in sorted({*CONFIDENCES, own}):
        plan = chosen
        if confidence != own:
            alone_at_confidence = case.with_limits(confidence=confidence).alone()
            found = surest_plan(alone_at_confidence, case.catalog, objective, today=case.today, effort=Effort(EFFORT))
            if found is None or not found.kept:
                rows.append(
                    AtConfidence(
                        confidence=confidence,
                        recommended=None,
                        display_name=None,
                        usd=None,
                        more_usd=None,
                        done_by=None,
                    )
                )
                continue
            plan = found
        parts = plan.plan.placements
        alike = {part.option for part in parts} == chosen.options
        rows.append(
            AtConfidence(
                confidence=confidence,
                recommended=parts[0].option if len(parts) == 1 else None,
                display_name=None if alike else parts[0].name if len(parts) == 1 else f"a mix of {len(parts)}",
                options=tuple(part.option for part in parts),
                usd=plan.usd_confident,
                more_usd=plan.usd_confident - chosen.usd_confident,
                done_by=plan.done_by_confident,
            )
        )
    return tuple(rows)


def _in_mix(other: Alternative, chosen: Chosen) -> Alternative:
    """Return an alternative with the number of runs it does in the mix, and why it does not do all of them."""
    runs = next((placed.runs for placed in chosen.plan.placements if placed.option == other.option), None)
    if runs is None:
        return other
    alone = other.why_not
    if other.feasible and other.usd_confident is not None and chosen.usd_confident > 0:
        alone = ratio_text(other.usd_confident / chosen.usd_confident)
    text = f"does {runs:,} of them; alone: {alone}" if alone else f"does {runs:,} of them"
    return other.model_copy(update={"why_not": text, "feasible": False})
