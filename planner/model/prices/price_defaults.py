"""How far prices move while nobody looks: the block `prices` of `catalogs/defaults.yaml`."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from planner.model.base import Frozen
from planner.model.default_quantity import DefaultQuantity, quantities
from planner.model.quantity import Unit


class PriceDefaults(Frozen):
    """Factors by which a price may lie higher or lower than the one on file."""

    stale_factor: DefaultQuantity
    """Of a firm price that is older than its kind allows."""
    spot_factor: DefaultQuantity
    """Of a spot or marketplace price that was seen once, on a day long gone."""

    @model_validator(mode="after")
    def _factors(self) -> Self:
        for name, factor in quantities(self).items():
            if factor.unit is not Unit.RATIO or factor.low < 1:
                raise ValueError(f"{name} is a factor: write it in ratio, 1 or more in its whole range")
        return self
