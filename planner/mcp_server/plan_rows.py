"""Rows of a tool's answer for the options of a plan, and for an option's explanation."""

from __future__ import annotations

from collections.abc import Sequence

from planner.mcp_server.tool_answer import ToolAnswer, table_of
from planner.model.answer.documents import CampaignDocument, ComparisonDocument, EstimateDocument
from planner.model.answer.explanation import ExplainDocument, OptionExplanation
from planner.present.columns.registry import short_rows
from planner.present.explanation_answer import answer_lines
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
