"""Explains how the numbers of a plan are computed."""

from __future__ import annotations

from datetime import date
from functools import cache

from planner.decide.campaign.campaign_formulas import campaign_formulas
from planner.decide.options.estimate_plan import estimate_options
from planner.decide.options.explain import explain_plan
from planner.decide.options.step_breakdown import Published
from planner.decide.recommend.answer_plan import answer_plan
from planner.errors import InputError
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.explanation import ExplainDocument
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.quantity.formula import named
from planner.quantity.recorded_number import recording
from planner.use_cases.answer_ids import document_id
from planner.use_cases.plans import with_found_options
from planner.use_cases.published.evidence import bundled_evidence, bundled_image_evidence


def explain(plan: Plan, catalog: Catalog, *, option: str | None, today: date) -> ExplainDocument:
    """Explain each option, or one option named by its id or by its row in the comparison of this day."""
    with recording():
        return _explained(with_found_options(plan, catalog, today=today), catalog, option=option, today=today)


def _explained(plan: Plan, catalog: Catalog, *, option: str | None, today: date) -> ExplainDocument:
    estimated = estimate_options(plan, catalog, today=today)
    answer = answer_plan(plan, catalog, today=today, estimated=estimated)
    if option is not None and option.isdecimal():
        option = _in_row(int(option), answer)

    @cache
    def evidence(images: bool) -> Published:
        return Published(bundled_image_evidence(catalog) if images else bundled_evidence(catalog))

    document = explain_plan(plan, catalog, evidence, option=option, estimated=estimated)
    answers = {ranked.id: ranked for ranked in answer.options}
    explained = tuple(
        explanation.model_copy(
            update={
                "answer": answers[explanation.id],
                "formulas": campaign_formulas(
                    answers[explanation.id],
                    plan,
                    today=today,
                    fit_chance=None
                    if explanation.fit_chance is None
                    else named("chance_to_fit", explanation.fit_chance, ""),
                    samples_per_s=None if explanation.throughput is None else explanation.throughput.value,
                    step_seconds=explanation.step_seconds,
                ),
            }
        )
        for explanation in document.options
    )
    mix = answer.mix.placements if answer.mix is not None else ()
    of_all = {"options": explained, "recommended": answer.recommended, "confidence": answer.confidence, "mix": mix}
    document = document.model_copy(update=of_all)
    return document.model_copy(update={"answer_id": document_id(document)})


def _in_row(row: int, answer: ComparisonDocument) -> str:
    """Return the id of the option in a row of `planner compare`."""
    options = answer.options
    if not 1 <= row <= len(options):
        raise InputError(f"--option {row}: the plan has {len(options)} options.", fix="Take a row of: planner compare")
    return options[row - 1].id
