"""Formulas that print themselves: plain functions whose numbers remember, while recorded, how they were computed.

Outside `recording()` a formula is its function and nothing else. Inside, its inputs are numbers with names, and the
operators that compute with them also remember each other. So the text of a formula is its code, run once.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar, cast

from planner.quantity.interval import Interval

P = ParamSpec("P")
R = TypeVar("R")
_on: ContextVar[bool] = ContextVar("formulas_are_recorded", default=False)


class Operation(NamedTuple):
    """An operator or a function of numbers, and what it was applied to."""

    sign: str
    operands: tuple[float | Recorded, ...]


class NamedInput(NamedTuple):
    """A number by the name that a formula gives it, or that a file states."""

    name: str
    unit: str = ""
    source: str = ""
    computed: Recorded | None = None
    """How it was computed; None: stated."""


class NamedResult(NamedTuple):
    """What a formula returned: its name, unit and meaning, its body, and where its code stands."""

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

    def _of_two(self, sign: str, one: Any, other: Any, apply: Callable[[float, float], float]) -> Any:
        if not isinstance(one, (int, float, Recorded)) or not isinstance(other, (int, float, Recorded)):
            return NotImplemented
        value = apply(float(one), float(other))
        return self._with(value, Operation(sign, (one, other))) if _on.get() else value

    def _of_one(self, sign: str, value: float) -> Any:
        return self._with(value, Operation(sign, (self,))) if _on.get() else value

    def __add__(self, other: Any) -> Any:
        return self._of_two("+", self, other, float.__add__)

    def __radd__(self, other: Any) -> Any:
        return self._of_two("+", other, self, float.__add__)

    def __sub__(self, other: Any) -> Any:
        return self._of_two("-", self, other, float.__sub__)

    def __rsub__(self, other: Any) -> Any:
        return self._of_two("-", other, self, float.__sub__)

    def __mul__(self, other: Any) -> Any:
        return self._of_two("x", self, other, float.__mul__)

    def __rmul__(self, other: Any) -> Any:
        return self._of_two("x", other, self, float.__mul__)

    def __truediv__(self, other: Any) -> Any:
        return self._of_two("/", self, other, float.__truediv__)

    def __rtruediv__(self, other: Any) -> Any:
        return self._of_two("/", other, self, float.__truediv__)

    def __pow__(self, other: Any) -> Any:
        return self._of_two("^", self, other, float.__pow__)

    def __rpow__(self, other: Any) -> Any:
        return self._of_two("^", other, self, float.__pow__)

    def __neg__(self) -> Any:
        return self._of_one("-", -float(self))

    def __abs__(self) -> Any:
        return self._of_one("abs", abs(float(self)))

    def exp(self) -> Any:
        """Return e to this number; numpy calls it of arrays of such numbers, as the four below."""
        return self._of_one("exp", math.exp(float(self)))

    def log(self) -> Any:
        """Return the natural logarithm."""
        return self._of_one("log", math.log(float(self)))

    def log2(self) -> Any:
        """Return the logarithm to base 2."""
        return self._of_one("log2", math.log2(float(self)))

    def sqrt(self) -> Any:
        """Return the square root."""
        return self._of_one("sqrt", math.sqrt(float(self)))

    def rint(self) -> Any:
        """Return the nearest whole number."""
        return self._of_one("round", float(round(float(self))))


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
    """Return an element of an array as a float that remembers the same."""
    return recorded_float(float(number), number.how) if isinstance(number, Recorded) else float(number)


@contextmanager
def recording() -> Iterator[None]:
    """Let numbers remember how they are computed, as long as this lasts."""
    before = _on.set(True)
    try:
        yield
    finally:
        _on.reset(before)


def is_recording() -> bool:
    """Return whether numbers remember how they are computed."""
    return _on.get()


def formula(unit: str, *, name: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a formula of a function of floats, intervals and dataclasses of floats: named inputs, a named result.

    Its name is the function's, its inputs are its parameters, its meaning the first line of its docstring.
    """

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if not _on.get():
                return function(*args, **kwargs)
            bound = inspect.signature(function).bind(*args, **kwargs)
            for key, value in bound.arguments.items():
                bound.arguments[key] = _input(key, value)
            result = function(*bound.args, **bound.kwargs)
            where = f"{function.__module__.replace('.', '/')}.py: {function.__name__}"
            meaning = (function.__doc__ or "").split("\n")[0]
            return cast("R", _result(name or function.__name__.lstrip("_"), unit, meaning, result, where))

        return call

    return wrap


def named(name: str, value: R, unit: str, meaning: str = "") -> R:
    """Give a name to a number or interval between formulas, so that its text stands by itself."""
    return cast("R", _result(name, unit, meaning, value, "")) if _on.get() else value


def stated(name: str, value: float, unit: str, source: str) -> float:
    """Give a name and a source to a number that a file states, or that is computed where nothing is recorded."""
    if not _on.get() or isinstance(value, Recorded):
        return value
    return recorded_float(value, NamedInput(name, unit, source))


def total(parts: Iterable[float]) -> float:
    """Return the exact sum, as `math.fsum`."""
    parts = tuple(parts)
    value = math.fsum(parts)
    return recorded_float(value, Operation("+", parts)) if _recorded(parts) else value


def exp(value: float) -> float:
    """Return e to a number."""
    return _applied("exp", math.exp, value)


def expm1(value: float) -> float:
    """Return e to a number, less 1."""
    return _applied("expm1", math.expm1, value)


def log(value: float) -> float:
    """Return the natural logarithm of a number."""
    return _applied("log", math.log, value)


def log1p(value: float) -> float:
    """Return the natural logarithm of 1 + a number."""
    return _applied("log1p", math.log1p, value)


def sqrt(value: float) -> float:
    """Return the square root of a number."""
    return _applied("sqrt", math.sqrt, value)


def largest(*values: float) -> float:
    """Return the largest of numbers."""
    return _applied("max", max, *values)


def smallest(*values: float) -> float:
    """Return the smallest of numbers."""
    return _applied("min", min, *values)


def ceiling(value: float) -> float:
    """Return the next whole number above."""
    return _applied("ceil", lambda number: float(math.ceil(number)), value)


def applied(sign: str, function: Callable[..., float], *values: float) -> float:
    """Return a function of numbers that prints as `sign(...)`."""
    return _applied(sign, function, *values)


def _applied(sign: str, function: Callable[..., float], *values: float) -> float:
    if not _on.get():
        return function(*values)
    value = function(*(float(one) for one in values))
    recorded = next((one for one in values if isinstance(one, Recorded)), None)
    return value if recorded is None else cast("float", recorded._with(value, Operation(sign, values)))


def _recorded(values: Sequence[float]) -> bool:
    return _on.get() and any(isinstance(one, Recorded) for one in values)


def _input(name: str, value: Any) -> Any:
    """Return an argument whose numbers have the parameter's name; those of a dataclass have the fields'."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Recorded):
        return _renamed(name, value)
    if isinstance(value, int | float):
        return value if math.isinf(value) else recorded_float(value, NamedInput(name))
    if isinstance(value, Interval):
        ends = {end: _input(f"{name}_{end}", getattr(value, end)) for end in ("low", "high")}
        return Interval(value=_input(name, value.value), **ends)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _input(one.name, getattr(value, one.name)) for one in fields(value)})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_input(field, one) for field, one in zip(value._fields, value, strict=True)))
    if isinstance(value, list):
        return [_input(f"{name}_{number}", one) for number, one in enumerate(value, start=1)]
    return value


def _renamed(name: str, value: Recorded) -> RecordedFloat:
    how, number = value.how, float(value)
    if isinstance(how, NamedInput):
        return recorded_float(number, how._replace(name=name))
    return recorded_float(number, NamedInput(name, computed=value))


def _result(name: str, unit: str, meaning: str, value: Any, where: str) -> Any:
    if isinstance(value, Recorded):
        number = float(value)
        how = NamedResult(name, unit, meaning, value, where)
        if isinstance(value.how, NamedResult):
            of = value.how
            how = of if where else of._replace(name=name, meaning=meaning or of.meaning)
        return value._with(number, how)
    if isinstance(value, Interval):
        return value._replace(value=_result(name, unit, meaning, value.value, where))
    if type(value) is tuple:
        return tuple(_result(f"{name}_{place}", unit, meaning, one, where) for place, one in enumerate(value, start=1))
    if str(getattr(value, "dtype", "")) == "object":
        import numpy as np

        return np.frompyfunc(lambda one: _result(name, unit, meaning, one, where), 1, 1)(value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {one.name: _result(one.name, unit, meaning, getattr(value, one.name), where) for one in fields(value)}
        return replace(value, **parts)
    return value


def _divided(one: float, other: float) -> float:
    """Divide as numpy does: by 0 to something endless, or to no number."""
    return one / other if other else math.copysign(math.inf, one) if one else math.nan


@dataclass(frozen=True, eq=False)
class RecordedElement(Recorded):
    """A recorded number that numpy leaves alone, as an element of an array of objects; it is no float."""

    value: float
    how: Operation | NamedInput | NamedResult

    def _with(self, value: float, how: Operation | NamedInput | NamedResult) -> RecordedElement:
        return RecordedElement(value, how)

    def __truediv__(self, other: Any) -> Any:
        return self._of_two("/", self, other, _divided)

    def __rtruediv__(self, other: Any) -> Any:
        return self._of_two("/", other, self, _divided)

    def __float__(self) -> float:
        return self.value

    def __ceil__(self) -> Any:
        return self._of_one("ceil", float(math.ceil(float(self))))

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
