"""Rows of a tool's answer: a plan's options, an explanation, memory, a run's check, prices, earlier answers."""

from __future__ import annotations

from collections.abc import Sequence

from planner.errors import InputError
from planner.mcp_server.tool_answer import ToolAnswer, table_of
from planner.model.answer.documents import CampaignDocument, ComparisonDocument, EstimateDocument
from planner.model.answer.explanation import ExplainDocument, OptionExplanation
from planner.model.answer.kept_answer import KeptAnswer
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.answer.price_answer import PricesDocument
from planner.model.answer.recommendation import RecommendationDocument
from planner.model.answer.run_check import RunCheckDocument
from planner.present.columns.registry import short_rows
from planner.present.explanation_answer import answer_lines
from planner.present.memory_screen import parts_of, verdict_text
from planner.present.price_rows import price_rows
from planner.present.table import Row, quantity_text
from planner.speed.throughput.prediction_notes import part_names


def comparison_answer(
    document: ComparisonDocument,
    *,
    assumed: tuple[str, ...] = (),
    first: int = 1,
    more: Sequence[str] = (),
    go_on: bool = True,
) -> ToolAnswer:
    """Return the recommendation with the options best first; with `more` columns, by their keys."""
    rows, left = table_of(short_rows(document, more), first=first)
    following = [f"explain(answer_id='{document.answer_id}', option='1') says why"] if go_on else []
    if left:
        following.append(f"explain(answer_id='{document.answer_id}', from_row={first + len(rows)}) shows more rows")
    return ToolAnswer(
        headline=list(document.headline or (document.sentence,)),
        rows=rows,
        rows_left_out=left,
        assumptions=[*assumed, *document.notes],
        answer_id=document.answer_id,
        next=following,
    )


def listed_answer(document: EstimateDocument | CampaignDocument, *, first: int, more: Sequence[str] = ()) -> ToolAnswer:
    """Return the options of an estimate or a campaign, in the plan's order; with `more` columns, by their keys."""
    rows, left = table_of(short_rows(document, more), first=first)
    return ToolAnswer(
        headline=[document.plan], rows=rows, rows_left_out=left, assumptions=list(document.notes),
        answer_id=document.answer_id,
    )  # fmt: skip


def explained_answer(document: ExplainDocument, *, answer_id: str) -> ToolAnswer:
    """Return the explanation of one option's numbers: verdict and money, then the basis of its speed."""
    option = document.options[0]
    lines = [] if option.answer is None else [line.strip() for line in answer_lines(option.answer, document)]
    rate = f"Speed: {quantity_text(option.throughput)}." if option.throughput else f"No speed: {option.why_not}."
    rows, left = table_of(_parts(option) or _ratios(option) or _runs(option))
    source = [f"speed: {option.throughput.source}"] if option.throughput else []
    stated = [f"stated by the plan: {name} {value}" for name, value in option.setup.items()]
    return ToolAnswer(
        headline=[
            f"{option.id}: {option.name}. {''.join(lines[:1])}",
            *[f"{'; '.join(lines[1:])}."][: len(lines)],
            rate,
        ],
        rows=rows,
        rows_left_out=left,
        assumptions=[*source, *stated, *option.notes],
        answer_id=answer_id,
    )


def _parts(option: OptionExplanation) -> list[Row]:
    names = part_names("image" if option.step_unit == "images" else "tokens")
    parts = sorted(option.parts, key=lambda part: -part.share)
    return [
        {
            "part of a step": names.get(part.name, part.name),
            "share": f"{part.share:.0%}",
            "seconds": f"{part.seconds:.3g}",
            "formula": part.formula,
        }
        for part in parts
        if part.share >= 0.005
    ]


def _ratios(option: OptionExplanation) -> list[Row]:
    ratios = option.extrapolation.ratios if option.extrapolation else ()
    return [
        {"factor from a run": ratio.what, "value": f"{ratio.value:.3g}", "formula": ratio.formula} for ratio in ratios
    ]


def _runs(option: OptionExplanation) -> list[Row]:
    return [{"run": run.id, "speed without it": quantity_text(run.without)} for run in option.runs]


MOST_SOURCES = 4


def memory_answer(document: MemoryDocument) -> ToolAnswer:
    """Return whether it fits, with its chance; the kinds of checkpointing, then what would make it fit."""
    parts = ", ".join(f"{name} {quantity_text(part)}" for name, part in parts_of(document).items() if part)
    ways: list[Row] = [
        {
            "checkpointing": way.checkpointing.value,
            "needs": quantity_text(way.total_gib),
            "fits": way.fits or "not known",
            "chance": _percent(way.chance),
            "largest micro-batch": "not known" if way.largest_micro_batch is None else str(way.largest_micro_batch),
        }
        for way in document.ways
    ]
    changes: list[Row] = [
        {"change": remedy.change, "costs": remedy.costs, "chance": _percent(remedy.chance)}
        for remedy in document.remedies
    ]
    rows, left = table_of([*ways, *changes])
    return ToolAnswer(
        headline=[verdict_text(document), f"On one device: {parts}."],
        rows=rows,
        rows_left_out=left,
        assumptions=list(document.notes),
        answer_id=document.answer_id,
    )


def run_check_answer(document: RunCheckDocument) -> ToolAnswer:
    """Return whether a run is normal, and what may slow it down, with the gain and the cheapest test."""
    expected = "not known" if document.expected is None else quantity_text(document.expected)
    peak = "" if document.share_of_peak is None else f"; MFU {document.share_of_peak:.0%}"
    causes: list[Row] = [
        {
            "may hold it back": cause.text,
            "times as fast without it": f"{cause.gain:.2f} ({cause.gain_low:.2f}-{cause.gain_high:.2f})",
            "sure": f"{cause.probability:.0%}",
            "evidence": cause.evidence,
            "fix": cause.fix,
            "test": cause.test,
        }
        for cause in document.causes
    ]
    rows, left = table_of(causes)
    doubts = [
        f"doubtful: {doubt}" for doubt in (*document.doubts, *(finding.says for finding in document.audit.findings))
    ]
    return ToolAnswer(
        headline=[document.sentence, f"Measured {quantity_text(document.measured)}, expected {expected}{peak}."],
        rows=rows,
        rows_left_out=left,
        assumptions=[*document.assumed, *doubts],
        answer_id=document.answer_id,
    )


def prices_answer(document: PricesDocument) -> ToolAnswer:
    """Return the lowest prices per accelerator-hour, with their age."""
    rows, left = table_of(price_rows(document.prices, brief=True))
    sources = list(dict.fromkeys(price.source for price in document.prices[: len(rows)]))
    stale = sum(price.stale for price in document.prices)
    return ToolAnswer(
        headline=[f"{len(document.prices)} prices, the lowest per accelerator-hour first; {stale} are out of date."],
        rows=rows,
        rows_left_out=left,
        assumptions=[f"source: {source}" for source in sources[:MOST_SOURCES]],
        next=["planner prices refresh fetches new ones; a person runs it"] if stale else [],
    )


def _percent(chance: float | None) -> str:
    return "not known" if chance is None else f"{min(max(chance, 0.01), 0.99):.0%}"


def kept_rows(kept: KeptAnswer, from_row: int, more: tuple[str, ...]) -> ToolAnswer:
    """Return a stored answer's table from a row on, with more columns by their keys."""
    document = kept.answer
    if isinstance(document, MemoryDocument):
        return memory_answer(document)
    if isinstance(document, RunCheckDocument):
        return run_check_answer(document)
    if isinstance(document, RecommendationDocument | OwnOrRentDocument | ExplainDocument):
        raise InputError(f"answer {kept.id} has no table of options.", fix=f"A person reads it: planner show {kept.id}")
    if from_row > len(document.options):
        raise InputError(f"from_row {from_row}: the answer has {len(document.options)} rows.", fix="Take a lower one.")
    if isinstance(document, ComparisonDocument):
        return comparison_answer(document, assumed=kept.assumed, first=from_row, more=more)
    return listed_answer(document, first=from_row, more=more)
