"""The formula of each part of a step, in words, attached to the function that computes it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple, TypeVar

Function = TypeVar("Function", bound=Callable[..., object])
ATTRIBUTE = "__formulas__"


class PartFormula(NamedTuple):
    """A formula as on paper, and the file and function that compute it."""

    formula: str
    where: str


def computes(**formulas: str) -> Callable[[Function], Function]:
    """Attach to a function the formula of every part of a step that it computes, by the part's name."""

    def attach(function: Function) -> Function:
        setattr(function, ATTRIBUTE, formulas)
        return function

    return attach


def formulas_of(*modules: ModuleType) -> dict[str, PartFormula]:
    """Return the formulas attached to functions of these modules, by part, each with its file and function."""
    return {
        part: PartFormula(formula, f"{module.__name__.replace('.', '/')}.py: {name}")
        for module in modules
        for name, function in vars(module).items()
        if getattr(function, "__module__", None) == module.__name__
        for part, formula in getattr(function, ATTRIBUTE, {}).items()
    }
