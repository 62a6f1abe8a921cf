"""A formula behind an answer, as its code prints it: its text, and the inputs that its text names."""

from __future__ import annotations

from planner.model.base import Frozen


class FormulaInput(Frozen):
    """A number that a formula's text names."""

    name: str
    value: float
    unit: str
    """Unit; empty for a plain number, or if not stated."""
    source: str
    """Source of a stated number; empty if it is computed."""
    formula: str | None
    """Name of the formula that computes it; null if it is stated."""


class FormulaUsed(Frozen):
    """A number, and the text that computes it from its inputs."""

    name: str
    value: float
    unit: str
    meaning: str
    text: str
    """Text with the operators + - x / ^, without terms of 0 and factors of 1."""
    inputs: tuple[FormulaInput, ...]
    where: str
    """File and function that compute it; empty between two functions."""
