"""Formulas as lines: a number, the text that computes it, and the inputs that files state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.model.answer.formula_used import FormulaInput, FormulaUsed

DIGITS, FULL_DIGITS = 7, 12
WHOLE = 1e15
HOW_TO_READ = "x ^ / as on paper; log is natural; smooth_max(a, b, k) = (a^k + b^k)^(1/k)"


def formula_lines(formulas: Sequence[FormulaUsed], *, full: bool) -> Iterator[str]:
    """Write each formula on a line, and below it what its text names and no other line tells; `full`: with sources.

    A stated number is written where it is met first, unless another one has its name.
    """
    digits = FULL_DIGITS if full else DIGITS
    told: dict[str, float] = {}
    for formula in formulas:
        meaning = f"   ({formula.meaning.removeprefix('Return').strip(' .')})" if full and formula.meaning else ""
        yield f"  {_number(formula.name, formula.value, formula.unit, digits)} = {formula.text}{meaning}"
        inputs = [each for each in formula.inputs if each.formula != each.name]
        new = [each for each in inputs if told.get(each.name) != each.value or each.formula is not None]
        told |= {each.name: each.value for each in new}
        if full:
            yield from (f"      {_input(each, digits)}: {each.source}" for each in new if each.source)
            new = [each for each in new if not each.source]
        if new:
            yield f"      {', '.join(_input(each, digits) for each in new)}"


def _input(each: FormulaInput, digits: int) -> str:
    value = _number(each.name, each.value, each.unit, digits)
    return value if each.formula is None else f"{value} = {each.formula}"


def _number(name: str, value: float, unit: str, digits: int) -> str:
    whole = value == round(value) and abs(value) < WHOLE
    return (
        f"{name} {f'{value:.0f}' if whole else f'{value:.{digits}g}'}{f' {unit}' if unit and unit != 'ratio' else ''}"
    )
