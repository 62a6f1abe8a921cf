"""Numbers that remember how they were computed while `recording()` lasts. Otherwise they are floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

_on: ContextVar[bool] = ContextVar("formulas_are_recorded", default=False)
is_recording = _on.get
"""Function that returns whether numbers remember how they are computed."""


class Operation(NamedTuple):
    """An operator or a function of numbers, with its arguments."""

    sign: str
    operands: tuple[float | Recorded, ...]


class NamedInput(NamedTuple):
    """A number under the name that a formula gives it, or that a file states."""

    name: str
    unit: str = ""
    source: str = ""
    computed: Recorded | None = None
    """Its computation; None if it is stated."""


class NamedResult(NamedTuple):
    """Result of a formula: its name, unit and meaning, its body, and the place of its code."""

    name: str
    unit: str
    meaning: str
    body: Recorded
    where: str


class Recorded:
    """A number that remembers how it was computed. Its operators compute as those of floats do."""

    __slots__ = ()
    how: Operation | NamedInput | NamedResult

    if TYPE_CHECKING:

        def __float__(self) -> float: ...

    def _with(self, value: float, how: Operation | NamedInput | NamedResult) -> Recorded:
        raise NotImplementedError

    def _operation_of_two(self, sign: str, first: Any, other: Any, apply: Callable[[float, float], float]) -> Any:
        if not isinstance(first, (int, float, Recorded)) or not isinstance(other, (int, float, Recorded)):
            return NotImplemented
        value = apply(float(first), float(other))
        return self._with(value, Operation(sign, (first, other))) if _on.get() else value

    def _operation_of_one(self, sign: str, value: float) -> Any:
        return self._with(value, Operation(sign, (self,))) if _on.get() else value

    def __add__(self, other: Any) -> Any:
        return self._operation_of_two("+", self, other, float.__add__)

    def __radd__(self, other: Any) -> Any:
        return self._operation_of_two("+", other, self, float.__add__)

    def __sub__(self, other: Any) -> Any:
        return self._operation_of_two("-", self, other, float.__sub__)

    def __rsub__(self, other: Any) -> Any:
        return self._operation_of_two("-", other, self, float.__sub__)

    def __mul__(self, other: Any) -> Any:
        return self._operation_of_two("x", self, other, float.__mul__)

    def __rmul__(self, other: Any) -> Any:
        return self._operation_of_two("x", other, self, float.__mul__)

    def __truediv__(self, other: Any) -> Any:
        return self._operation_of_two("/", self, other, float.__truediv__)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operation_of_two("/", other, self, float.__truediv__)

    def __pow__(self, other: Any) -> Any:
        return self._operation_of_two("^", self, other, float.__pow__)

    def __rpow__(self, other: Any) -> Any:
        return self._operation_of_two("^", other, self, float.__pow__)

    def __neg__(self) -> Any:
        return self._operation_of_one("-", -float(self))

    def __abs__(self) -> Any:
        return self._operation_of_one("abs", abs(float(self)))

    def exp(self) -> Any:
        """Return e to the power of this number. numpy calls this and the four methods below on arrays of them."""
        return self._operation_of_one("exp", math.exp(float(self)))

    def log(self) -> Any:
        """Return the natural logarithm."""
        return self._operation_of_one("log", math.log(float(self)))

    def log2(self) -> Any:
        """Return the logarithm to base 2."""
        return self._operation_of_one("log2", math.log2(float(self)))

    def sqrt(self) -> Any:
        """Return the square root."""
        return self._operation_of_one("sqrt", math.sqrt(float(self)))

    def rint(self) -> Any:
        """Return the nearest whole number."""
        return self._operation_of_one("round", float(round(float(self))))


class RecordedFloat(Recorded, float):  # type: ignore[misc]  # ** of floats may be complex
    """A recorded number that passes for a float everywhere: in quantities, ranges and answers."""

    __slots__ = ("how",)

    def _with(self, value: float, how: Operation | NamedInput | NamedResult) -> RecordedFloat:
        return recorded_float(value, how)


def recorded_float(value: float, how: Operation | NamedInput | NamedResult) -> RecordedFloat:
    """Return a float that remembers how it was computed."""
    number = RecordedFloat(value)
    number.how = how
    return number


def float_of(number: Any) -> float:
    """Return an element of an array as a float that remembers the same computation."""
    return recorded_float(float(number), number.how) if isinstance(number, Recorded) else float(number)


@contextmanager
def recording() -> Iterator[None]:
    """Let numbers remember how they are computed within this block."""
    before = _on.set(True)
    try:
        yield
    finally:
        _on.reset(before)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Record no formulas while this lasts: a search keeps one of many trials and prints none."""
    before = _on.set(False)
    try:
        yield
    finally:
        _on.reset(before)


def _divided(dividend: float, other: float) -> float:
    """Divide as numpy does: by 0 to infinity, or to NaN."""
    return dividend / other if other else math.copysign(math.inf, dividend) if dividend else math.nan


@dataclass(frozen=True, eq=False)
class RecordedElement(Recorded):
    """A recorded number that numpy leaves alone, as an element of an array of objects. It is not a float."""

    value: float
    how: Operation | NamedInput | NamedResult

    def _with(self, value: float, how: Operation | NamedInput | NamedResult) -> RecordedElement:
        return RecordedElement(value, how)

    def __truediv__(self, other: Any) -> Any:
        return self._operation_of_two("/", self, other, _divided)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operation_of_two("/", other, self, _divided)

    def __float__(self) -> float:
        return self.value

    def __ceil__(self) -> Any:
        return self._operation_of_one("ceil", float(math.ceil(float(self))))

    def __int__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (int, float, Recorded)) and self.value == float(other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __lt__(self, other: Any) -> bool:
        return self.value < float(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= float(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > float(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= float(other)
