"""Formulas that can be printed: plain functions whose numbers remember how they were computed.

Outside `recording()` a formula is just its function. Inside it, inputs are named numbers, and the results of operators
remember their operands. So the text of a formula comes from running its code once.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, ParamSpec, TypeVar, cast

from planner.quantity.interval import Interval
from planner.quantity.recorded_number import (
    NamedInput,
    NamedResult,
    Operation,
    Recorded,
    RecordedFloat,
    is_recording,
    recorded_float,
)

P = ParamSpec("P")
R = TypeVar("R")
NO_INPUTS: Mapping[str, tuple[str, str]] = {}


def formula(
    unit: str, *, name: str | None = None, inputs: Mapping[str, tuple[str, str]] = NO_INPUTS
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Turn a function of floats, intervals and dataclasses of floats into a formula with named inputs and result.

    The result's name is the function's, unless `name` is given; its meaning is the first line of the docstring. The
    inputs are the parameters. `inputs` gives unit and source by name, for inputs that are not computed or stated
    elsewhere.
    """

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        signature = functools.cache(lambda: inspect.signature(function))

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if not is_recording():
                return function(*args, **kwargs)
            bound = signature().bind(*args, **kwargs)
            for key, value in bound.arguments.items():
                bound.arguments[key] = _input(key, value, inputs)
            result = function(*bound.args, **bound.kwargs)
            where = f"{function.__module__.replace('.', '/')}.py: {function.__name__}"
            meaning = (function.__doc__ or "").split("\n")[0]
            return cast("R", _result(name or function.__name__.lstrip("_"), unit, meaning, result, where))

        return call

    return wrap


def named(name: str, value: R, unit: str, meaning: str = "") -> R:
    """Name an intermediate number or interval, so that it is printed on its own."""
    return cast("R", _result(name, unit, meaning, value, "")) if is_recording() else value


def stated(name: str, value: float, unit: str, source: str) -> float:
    """Name a number that a file states, or that is computed without recording, with its source."""
    if not is_recording() or isinstance(value, Recorded):
        return value
    return recorded_float(value, NamedInput(name, unit, source))


def total(parts: Iterable[float]) -> float:
    """Return the exact sum, as `math.fsum`."""
    if not is_recording():
        return math.fsum(parts)
    parts = tuple(parts)
    value = math.fsum(parts)
    return recorded_float(value, Operation("+", parts)) if any(isinstance(part, Recorded) for part in parts) else value


def exp(value: float) -> float:
    """Return e to the power of a number."""
    return _applied("exp", math.exp, value) if is_recording() else math.exp(value)


def expm1(value: float) -> float:
    """Return e to the power of a number, minus 1."""
    return _applied("expm1", math.expm1, value) if is_recording() else math.expm1(value)


def log(value: float) -> float:
    """Return the natural logarithm of a number."""
    return _applied("log", math.log, value) if is_recording() else math.log(value)


def log1p(value: float) -> float:
    """Return the natural logarithm of 1 + a number."""
    return _applied("log1p", math.log1p, value) if is_recording() else math.log1p(value)


def sqrt(value: float) -> float:
    """Return the square root of a number."""
    return _applied("sqrt", math.sqrt, value) if is_recording() else math.sqrt(value)


def largest(*values: float) -> float:
    """Return the largest of the numbers."""
    return _applied("max", max, *values) if is_recording() else max(values)


def smallest(*values: float) -> float:
    """Return the smallest of the numbers."""
    return _applied("min", min, *values) if is_recording() else min(values)


def applied(sign: str, function: Callable[..., float], *values: float) -> float:
    """Return a function of numbers that prints as `sign(...)`."""
    return _applied(sign, function, *values)


def _applied(sign: str, function: Callable[..., float], *values: float) -> float:
    if not is_recording():
        return function(*values)
    value = function(*(float(number) for number in values))
    recorded = next((number for number in values if isinstance(number, Recorded)), None)
    return value if recorded is None else cast("float", recorded._with(value, Operation(sign, values)))


def _input(name: str, value: Any, inputs: Mapping[str, tuple[str, str]]) -> Any:
    """Return an argument with named numbers: by the parameter's name, or in a dataclass by the fields' names."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Recorded):
        return _renamed(name, value, *_unit_and_source(name, float(value), inputs))
    if isinstance(value, int | float):
        return (
            value
            if math.isinf(value)
            else recorded_float(value, NamedInput(name, *_unit_and_source(name, value, inputs)))
        )
    if isinstance(value, Interval):
        ends = {end: _input(f"{name}_{end}", getattr(value, end), inputs) for end in ("low", "high")}
        return Interval(value=_input(name, value.value, inputs), **ends)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: _input(field.name, getattr(value, field.name), inputs) for field in fields(value)}
        return replace(value, **parts)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_input(field, item, inputs) for field, item in zip(value._fields, value, strict=True)))
    if isinstance(value, list):
        return [_input(f"{name}_{number}", item, inputs) for number, item in enumerate(value, start=1)]
    return value


def _unit_and_source(name: str, value: float, inputs: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """Return the unit and source of an input; empty for 0 and 1, which the text of a formula leaves out."""
    return ("", "") if value in (0, 1) else inputs.get(name, ("", ""))


def _renamed(name: str, value: Recorded, unit: str, source: str) -> RecordedFloat:
    origin, number = value.how, float(value)
    if isinstance(origin, NamedInput):
        return recorded_float(
            number, origin._replace(name=name, unit=origin.unit or unit, source=origin.source or source)
        )
    return recorded_float(number, NamedInput(name, computed=value))


def _result(name: str, unit: str, meaning: str, value: Any, where: str) -> Any:
    if isinstance(value, Recorded):
        number = float(value)
        how = NamedResult(name, unit, meaning, value, where)
        if isinstance(value.how, NamedResult):
            earlier = value.how
            how = (
                earlier
                if where
                else earlier._replace(name=name, unit=unit or earlier.unit, meaning=meaning or earlier.meaning)
            )
        return value._with(number, how)
    if isinstance(value, Interval):
        return value._replace(value=_result(name, unit, meaning, value.value, where))
    if type(value) is tuple:
        return tuple(
            _result(f"{name}_{place}", unit, meaning, item, where) for place, item in enumerate(value, start=1)
        )
    if str(getattr(value, "dtype", "")) == "object":
        import numpy as np

        return np.frompyfunc(lambda element: _result(name, unit, meaning, element, where), 1, 1)(value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {
            field.name: _result(field.name, unit, meaning, getattr(value, field.name), where) for field in fields(value)
        }
        return replace(value, **parts)
    return value
