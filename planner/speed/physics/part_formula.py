"""Which function computes each part of a step, and the physics' inputs as numbers that remember their names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from planner.quantity.recorded_number import NamedInput, Recorded, RecordedElement

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

Function = TypeVar("Function", bound=Callable[..., object])
ConfigArrays = TypeVar("ConfigArrays")
ATTRIBUTE = "__parts__"
OF_PRODUCTS, OWNERS = "products", "of"
"""Of an image network: the table of its products, and the column that says whose each is."""


def computes(*parts: str) -> Callable[[Function], Function]:
    """Say of a function which parts of a step it computes; their formulas are its code, run once."""

    def attach(function: Function) -> Function:
        setattr(function, ATTRIBUTE, parts)
        return function

    return attach


def places_of(*modules: ModuleType) -> dict[str, str]:
    """Return by part the file and function of these modules that compute it."""
    return {
        part: f"{module.__name__.replace('.', '/')}.py: {name}"
        for module in modules
        for name, function in vars(module).items()
        if getattr(function, "__module__", None) == module.__name__
        for part in getattr(function, ATTRIBUTE, ())
    }


def recorded_configs(configs: ConfigArrays, constants: Mapping[str, float]) -> ConfigArrays:
    """Return the configurations with every number under its field's name; `..._of_it` where a constant has the same.

    Numbers of a network's products have their place in the row as well.
    """

    def name_of(field: str) -> str:
        return f"{field}_of_it" if field in constants else field

    changed = {}
    for field in fields(configs):  # type: ignore[arg-type]
        values: Any = getattr(configs, field.name)
        if field.name == OF_PRODUCTS:
            columns = {name: _recorded(f"{name_of(name)}_of_product", one) for name, one in values._asdict().items()}
            changed[field.name] = values._replace(**columns | {OWNERS: values.of})
        else:
            changed[field.name] = _recorded(name_of(field.name), values)
    return replace(configs, **changed)  # type: ignore[type-var]


def recorded_constants(constants: Mapping[str, float]) -> dict[str, Any]:
    """Return the constants of the physics, each under its name."""
    return {name: RecordedElement(value, NamedInput(name)) for name, value in constants.items()}


def log2_of(values: Array) -> Array:
    """Return logarithms to base 2, also of plain numbers beside recorded ones, of which numpy knows none."""
    import numpy as np

    if values.dtype != object:
        return np.asarray(np.log2(values))
    return np.asarray(
        np.frompyfunc(lambda one: one.log2() if isinstance(one, Recorded) else math.log2(one), 1, 1)(values)
    )


def _recorded(name: str, values: Array) -> Array:
    import numpy as np

    several = len(values) > 1
    numbers = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        numbers[place] = RecordedElement(float(value), NamedInput(f"{name}_{place + 1}" if several else name))
    return numbers
