"""Places of the functions that compute a step's parts, and the physics' inputs as numbers that record formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from planner.quantity.recorded_number import NamedInput, Recorded, RecordedElement

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.parameters import Parameter

Function = TypeVar("Function", bound=Callable[..., object])
ConfigArrays = TypeVar("ConfigArrays")
ATTRIBUTE = "__parts__"
PRODUCT_TABLE, OWNER_COLUMN = "products", "owner"
"""Names of the field with an image network's products, and of the column with their configuration's place."""


def computes(*parts: str) -> Callable[[Function], Function]:
    """Mark a function with the parts of a step that it computes; their formulas are recorded when it runs."""

    def attach(function: Function) -> Function:
        setattr(function, ATTRIBUTE, parts)
        return function

    return attach


def places_of(*modules: ModuleType) -> dict[str, str]:
    """Return for each part the file and function, among these modules, that compute it."""
    return {
        part: f"{module.__name__.replace('.', '/')}.py: {name}"
        for module in modules
        for name, function in vars(module).items()
        if getattr(function, "__module__", None) == module.__name__
        for part in getattr(function, ATTRIBUTE, ())
    }


def recorded_configs(configs: ConfigArrays, constants: Mapping[str, float]) -> ConfigArrays:
    """Return the configurations with numbers that remember their field's name.

    A field with the name of a constant gets the suffix `_of_it`. Numbers of products also have their place in the row.
    """

    def name_of(field: str) -> str:
        return f"{field}_of_it" if field in constants else field

    changed = {}
    for field in fields(configs):  # type: ignore[arg-type]
        values: Any = getattr(configs, field.name)
        if field.name == PRODUCT_TABLE:
            columns = {
                name: _recorded(f"{name_of(name)}_of_product", column)
                for name, column in values._asdict().items()
                if name != OWNER_COLUMN
            }
            changed[field.name] = values._replace(**columns)
        else:
            changed[field.name] = _recorded(name_of(field.name), values)
    return replace(configs, **changed)  # type: ignore[type-var]


def recorded_constants(constants: Mapping[str, float], parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return the constants of the physics as numbers that remember their names and meanings."""
    meanings = {parameter.name: f"calibrated constant: {parameter.meaning}" for parameter in parameters}
    return {
        name: RecordedElement(value, NamedInput(name, "", meanings.get(name, ""))) for name, value in constants.items()
    }


def log2_of(values: Array) -> Array:
    """Return logarithms to base 2, also of arrays that mix plain and recorded numbers, which numpy cannot take."""
    import numpy as np

    if values.dtype != object:
        return np.asarray(np.log2(values))
    by_element = np.frompyfunc(lambda value: value.log2() if isinstance(value, Recorded) else math.log2(value), 1, 1)
    return np.asarray(by_element(values))


def _recorded(name: str, values: Array) -> Array:
    import numpy as np

    several = len(values) > 1
    numbers = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        numbers[place] = RecordedElement(float(value), NamedInput(f"{name}_{place + 1}" if several else name))
    return numbers
