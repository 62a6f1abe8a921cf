"""Writes formulas as lines: a number, its formula, and the inputs from files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.model.quantity import FormulaInput, FormulaUsed

DIGITS, FULL_DIGITS = 7, 12
LARGEST_WHOLE_NUMBER = 1e15
"""Above this, whole numbers are written like other numbers."""
HOW_TO_READ = "x ^ / as on paper; log is natural; smooth_max(a, b, k) = (a^k + b^k)^(1/k)"


def formula_lines(formulas: Sequence[FormulaUsed], *, full: bool) -> Iterator[str]:
    """Write each formula on a line, and below it those of its inputs that no other line shows. `full` adds sources.

    An input is written at its first use, and again if another value has its name.
    """
    digits = FULL_DIGITS if full else DIGITS
    shown: dict[str, float] = {}
    for formula in formulas:
        meaning = f"   ({formula.meaning.removeprefix('Return').strip(' .')})" if full and formula.meaning else ""
        yield f"  {_number(formula.name, formula.value, formula.unit, digits)} = {formula.text}{meaning}"
        inputs = [used for used in formula.inputs if used.formula != used.name]
        new = [used for used in inputs if shown.get(used.name) != used.value or used.formula is not None]
        shown |= {used.name: used.value for used in new}
        if full:
            yield from (f"      {_input(used, digits)}: {used.source}" for used in new if used.source)
            new = [used for used in new if not used.source]
        if new:
            yield f"      {', '.join(_input(used, digits) for used in new)}"


def _input(used: FormulaInput, digits: int) -> str:
    value = _number(used.name, used.value, used.unit, digits)
    return value if used.formula is None else f"{value} = {used.formula}"


def _number(name: str, value: float, unit: str, digits: int) -> str:
    whole = value == round(value) and abs(value) < LARGEST_WHOLE_NUMBER
    return (
        f"{name} {f'{value:.0f}' if whole else f'{value:.{digits}g}'}{f' {unit}' if unit and unit != 'ratio' else ''}"
    )
