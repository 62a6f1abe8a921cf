"""Numbers of `catalogs/defaults.yaml`: bounded, and in the units that the formulas need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel

from planner.model.quantity import Quantity, Unit

SMALLEST_DEFAULT = 1e-9
LARGEST_DEFAULT = 1e9
"""Bounds, both far beyond anything real."""


def _of_a_real_size(quantity: Quantity) -> Quantity:
    for name in ("value", "low", "high"):
        number: float = getattr(quantity, name)
        if number and not SMALLEST_DEFAULT <= number <= LARGEST_DEFAULT:
            raise ValueError(
                f"{name} must be 0, or at least {SMALLEST_DEFAULT:g} and at most {LARGEST_DEFAULT:g}, has {number:g}"
            )
    return quantity


DefaultQuantity = Annotated[Quantity, AfterValidator(_of_a_real_size)]


def check_units(block: BaseModel, units: Mapping[str, Unit]) -> None:
    """Raise ValueError if a quantity of the block is not in its unit. One that is not listed is a ratio."""
    for name, quantity in quantities(block).items():
        unit = units.get(name, Unit.RATIO)
        if quantity.unit is not unit:
            raise ValueError(f"{name} is in {quantity.unit}; write it in {unit}")


def quantities(block: BaseModel) -> dict[str, Quantity]:
    """Return the stated quantities of a block, by name."""
    given = {name: getattr(block, name) for name in type(block).model_fields}
    return {name: value for name, value in given.items() if isinstance(value, Quantity)}
