"""A formula that an answer was computed by, as its code prints it: its text, and the inputs that its text names."""

from __future__ import annotations

from planner.model.base import Frozen


class FormulaInput(Frozen):
    """A number that a formula's text names."""

    name: str
    value: float
    unit: str
    """Empty: a plain number, or not stated."""
    source: str
    """Where a stated number comes from; empty where it is computed."""
    formula: str | None
    """The name of the formula that computes it; null: it is stated."""


class FormulaUsed(Frozen):
    """A number, and the text by which it is computed: with its inputs put in, the text gives the number."""

    name: str
    value: float
    unit: str
    meaning: str
    text: str
    """Operators are + - x / ^; what changes nothing is left out: terms of 0, factors of 1."""
    inputs: tuple[FormulaInput, ...]
    where: str
    """File and function that compute it; empty between two functions."""
