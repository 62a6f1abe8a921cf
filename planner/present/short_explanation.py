"""Writes a short explanation: one option's answer, hours, and formulas of its money, without sources."""

from __future__ import annotations

from collections.abc import Iterator

from planner.model.answer.explanation import ExplainDocument, OptionExplanation
from planner.model.quantity import FormulaUsed
from planner.present.explanation_answer import answer_lines, mix_lines
from planner.present.facts import name_text
from planner.present.formula_lines import HOW_TO_READ, formula_lines
from planner.present.screen import again, wrapped_lines
from planner.present.table import quantity_text

LINES = 80
"""Most lines, two screens."""
OF_THE_STEP = ("samples_per_s", "step_seconds")
"""Formulas at which the short explanation stops, because the ones below belong to the training step."""
MOST_PARTS = 6


def short_lines(document: ExplainDocument, *, width: int | None) -> list[str]:
    """Return the lines of the recommended option, or of the only one asked for. `--all` has everything."""
    option = next((option for option in document.options if option.id == document.recommended), document.options[0])
    last = ["Every option, formula, source, constant and run: --all", *again(document.answer_id)]
    if len(document.options) > 1:
        last.insert(0, f"{len(document.options) - 1} more options: --option N or ID")
    lines = wrapped_lines([document.plan, *mix_lines(document), "", *_option(option, document)], width)
    ending = wrapped_lines(last, width)
    left = LINES - len(ending)
    if len(lines) > left:
        lines = [*lines[: left - 1], "  ..."]
    return [*lines, *ending]


def _option(option: OptionExplanation, document: ExplainDocument) -> Iterator[str]:
    yield f"== {option.id}: {option.name if option.answer is None else name_text(option.answer)}"
    if option.answer is not None:
        yield from answer_lines(option.answer, document)
        yield from (f"Note: {run.text}" for run in option.answer.runs_not_counted)
    if option.throughput is None:
        yield f"No speed is known: {option.why_not or '; '.join(option.notes)}"
    else:
        yield f"throughput {quantity_text(option.throughput)}"
        if option.why_not is not None:
            yield f"Not known: {option.why_not}"
    if option.step_seconds is not None and option.throughput_from == "estimator":
        parts = [f"{part.name} {part.share * 100:.0f} %" for part in option.parts[:MOST_PARTS]]
        step = f"a step of {option.step_size:,.0f} {option.step_unit} takes {option.step_seconds:.4g} s"
        yield f"{step}: {', '.join(parts)}"
    formulas = list(_of_money(option.formulas))
    if formulas:
        yield f"How the figures are computed ({HOW_TO_READ}):"
        yield from formula_lines(formulas, full=False)


def _of_money(formulas: tuple[FormulaUsed, ...]) -> Iterator[FormulaUsed]:
    """Yield the formulas that are not only used by those of the step."""
    by_name = {formula.name: formula for formula in formulas}
    used = {part.formula for formula in formulas for part in formula.inputs}
    waiting = [name for name in by_name if name not in used and name not in OF_THE_STEP]
    wanted: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += [used.formula for used in by_name[name].inputs if used.formula not in (None, *OF_THE_STEP)]
    yield from (formula for formula in formulas if formula.name in wanted)
