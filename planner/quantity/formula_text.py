"""Recorded numbers as text: every formula that leads to a number, with the inputs that its text names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from planner.model.quantity import FormulaInput, FormulaUsed
from planner.quantity.recorded_number import NamedInput, NamedResult, Operation, Recorded

DIGITS = 12
"""Digits of a number in a text: recomputing with them gives the result to 1e-9."""
SHORTER = 4
"""Characters by which a divisor must be shorter than its factor to be written instead."""
SUM, PRODUCT, SIGNED, POWER, ATOM = 1, 2, 3, 4, 5
"""Binding strength of a text, for parentheses."""
LEVELS = {"+": SUM, "-": SUM, "x": PRODUCT, "/": PRODUCT, "^": POWER}
NO_NAME = re.compile(r"\W+")


def printed(numbers: Mapping[str, float], units: Mapping[str, str] | None = None) -> tuple[FormulaUsed, ...]:
    """Return the formulas of numbers, then level by level those of their inputs; none for a stated number.

    `units` are for numbers whose formula has no unit.
    """
    book = _Book()
    for name, number in numbers.items():
        if (computed := _computed(number)) is not None:
            book.add(name, computed, (units or {}).get(name, ""))
    return book.formulas()


def number_text(value: float) -> str:
    """Write a number with the digits that a recomputation needs."""
    text = f"{value:.{DIGITS}g}"
    return text if value >= 0 else f"({text})"


def _computed(number: object) -> Recorded | None:
    """Return what computes a number, looking through names that other formulas gave it; None if it is stated."""
    while isinstance(number, Recorded) and isinstance(number.how, NamedInput):
        if number.how.computed is None:
            return None
        number = number.how.computed
    return number if isinstance(number, Recorded) else None


@dataclass
class _Book:
    """Formulas by name, in the order in which they appear."""

    names: dict[int, str] = field(default_factory=dict)
    """Names by the key of a number."""
    keys: dict[object, int] = field(default_factory=dict)
    """A key for each way to compute a number, so that equal computations are printed once."""
    by_identity: dict[int, int] = field(default_factory=dict)
    numbers: dict[str, Recorded] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    """Units of formulas that their users name."""

    def add(self, name: str, number: Recorded, unit: str = "") -> str:
        """Return the name of a number's formula: its own, otherwise the given one, numbered if it is taken."""
        key = self.key(number)
        known = self.names.get(key)
        if known is not None:
            return known
        name = as_name(number.how.name if isinstance(number.how, NamedResult) else name)
        unique, count = name, 1
        while unique in self.numbers:
            count += 1
            unique = f"{name}_{count}"
        self.names[key] = unique
        self.numbers[unique], self.units[unique] = number, unit
        return unique

    def key(self, number: float | Recorded) -> int:
        """Return the same key for numbers that are computed the same way from the same inputs."""
        if not isinstance(number, Recorded):
            return self.keys.setdefault(float(number), len(self.keys))
        how = number.how
        if id(how) not in self.by_identity:
            way: tuple[object, ...]
            if isinstance(how, Operation):
                way = (how.sign, *(self.key(operand) for operand in how.operands))
            elif isinstance(how, NamedResult):
                way = (how.name, how.where, self.key(how.body))
            elif how.computed is not None:
                way = (how.name, self.key(how.computed))
            else:
                way = (how.name, how.unit, how.source, float(number))
            self.by_identity[id(how)] = self.keys.setdefault(way, len(self.keys))
        return self.by_identity[id(how)]

    def formulas(self) -> tuple[FormulaUsed, ...]:
        """Print every formula, and those that appear on the way."""
        found: dict[str, FormulaUsed] = {}
        waiting = list(self.numbers)
        while waiting:
            name = waiting.pop(0)
            if name in found:
                continue
            found[name] = self._formula(name)
            new = [
                used.formula for used in found[name].inputs if used.formula is not None and used.formula not in found
            ]
            waiting += dict.fromkeys(new)
        return tuple(found.values())

    def _formula(self, name: str) -> FormulaUsed:
        number = self.numbers[name]
        value = float(number)
        how = number.how
        body = how.body if isinstance(how, NamedResult) else number
        page = _Page(self)
        text, _ = page.text(body)
        unit, meaning, where = self.units[name], "", ""
        if isinstance(how, NamedResult):
            unit, meaning, where = how.unit or unit, how.meaning, how.where
        return FormulaUsed(
            name=name, value=value, unit=unit, meaning=meaning, text=text, inputs=tuple(page.inputs.values()),
            where=where,
        )  # fmt: skip


@dataclass
class _Page:
    """Text of one formula while it is written."""

    book: _Book
    inputs: dict[str, FormulaInput] = field(default_factory=dict)
    by_number: dict[int, str] = field(default_factory=dict)

    def text(self, number: float | Recorded) -> tuple[str, int]:
        """Return the text of a number with its binding strength. Terms without effect are left out."""
        if not isinstance(number, Recorded):
            return number_text(float(number)), ATOM
        if isinstance(number.how, Operation):
            return self._operation(number.how)
        return self._input(number), ATOM

    def _input(self, number: Recorded) -> str:
        how = number.how
        key = self.book.key(number)
        if key in self.by_number:
            return self.by_number[key]
        value, computed = float(number), _computed(number)
        unit = how.unit if isinstance(how, NamedInput | NamedResult) else ""
        source = how.source if isinstance(how, NamedInput) else ""
        formula = None
        if computed is not None:
            wanted = how.name if isinstance(how, NamedInput) else ""
            formula = self.book.add(wanted, computed, unit)
            unit = computed.how.unit if isinstance(computed.how, NamedResult) else unit
        name = as_name(how.name) if isinstance(how, NamedInput) else cast("str", formula)
        unique, count = name, 1
        while unique in self.inputs and (self.inputs[unique].value, self.inputs[unique].formula) != (value, formula):
            count += 1
            unique = f"{name}_{count}"
        self.inputs[unique] = FormulaInput(
            name=unique, value=value, unit=unit, source=source if formula is None else "", formula=formula
        )
        self.by_number[key] = unique
        return unique

    def _operation(self, how: Operation) -> tuple[str, int]:
        sign, operands = how
        level = LEVELS.get(sign)
        if level is None:
            inner = ", ".join(self.text(operand)[0] for operand in operands)
            return f"{sign}({inner})", ATOM
        if level == PRODUCT:
            none = any(not isinstance(operand, Recorded) and float(operand) == 0 for operand in operands)
            return ("0", ATOM) if none else self._product(how)
        first, *others = operands
        if not others:
            return f"-{self._in_parentheses_if_weaker(first, POWER)}", SIGNED
        nothing = 1.0 if level == POWER else 0.0
        kept = [term for term in others if float(term) != nothing or _is_told(term)]
        if sign == "+" and float(first) == nothing and not _is_told(first) and kept:
            first, *kept = kept
        if not kept:
            return self.text(first)
        if level == POWER:
            return (
                f"{self._in_parentheses_if_weaker(first, ATOM)}^{self._in_parentheses_if_weaker(kept[0], ATOM)}",
                POWER,
            )
        right = PRODUCT if sign == "-" else SUM
        return f" {sign} ".join(
            [
                self._in_parentheses_if_weaker(first, SUM),
                *(self._in_parentheses_if_weaker(term, right) for term in kept),
            ]
        ), SUM

    def _product(self, how: Operation) -> tuple[str, int]:
        """Write the factors, then the divisors."""
        above: list[float | Recorded] = []
        below: list[float | Recorded] = []
        _sort_factors(how, above, below)
        for divisor in list(below):
            same = next((other for other in above if self.book.key(other) == self.book.key(divisor)), None)
            if same is not None:
                above = [other for other in above if other is not same]
                below = [other for other in below if other is not divisor]
        if not below and len(above) == 1:
            return self.text(above[0])
        texts = [self._in_parentheses_if_weaker(factor, SIGNED) for factor in above or [1.0]]
        return " / ".join(
            [" x ".join(texts), *(self._in_parentheses_if_weaker(divisor, SIGNED) for divisor in below)]
        ), PRODUCT

    def _in_parentheses_if_weaker(self, number: float | Recorded, least: int) -> str:
        text, level = self.text(number)
        return text if level >= least else f"({text})"


def _sort_factors(how: Operation, above: list[float | Recorded], below: list[float | Recorded]) -> None:
    """Collect factors and divisors through all products. Those of 1 are left out."""
    divided = how.sign == "/"
    for place, operand in enumerate(how.operands):
        factor = _bare(operand)
        sides = (below, above) if divided and place else (above, below)
        if isinstance(factor, Recorded) and isinstance(factor.how, Operation) and factor.how.sign in ("x", "/"):
            _sort_factors(factor.how, *sides)
        elif not isinstance(factor, Recorded) and _is_reciprocal(float(factor)):
            sides[1].append(1 / float(factor))
        elif float(factor) != 1.0 or _is_told(factor):
            sides[0].append(factor)


def _bare(number: float | Recorded) -> float | Recorded:
    """Return the only term of a sum whose other terms are zero."""
    while isinstance(number, Recorded) and isinstance(number.how, Operation) and number.how.sign in ("+", "-"):
        first, *others = number.how.operands
        terms = [term for term in others if float(term) != 0 or _is_told(term)]
        if number.how.sign == "-" and (terms or not others):
            break
        left = terms if float(first) == 0 and terms and not _is_told(first) else [first, *terms]
        if len(left) > 1:
            break
        number = left[0]
    return number


def _is_told(number: float | Recorded) -> bool:
    """Return whether a number is shown although it has no effect: one that a file states with its source."""
    return isinstance(number, Recorded) and isinstance(number.how, NamedInput) and bool(number.how.source)


def _is_reciprocal(value: float) -> bool:
    """Return whether a factor is shorter as a divisor: 1 / 3600."""
    return 0 < abs(value) < 1 and len(number_text(1 / value)) + SHORTER <= len(number_text(value))


def as_name(text: str) -> str:
    """Return a text as a name that a formula can hold: words joined by underscores."""
    name = NO_NAME.sub("_", text.lower()).strip("_") or "number"
    return f"n{name}" if name[0].isdigit() else name
