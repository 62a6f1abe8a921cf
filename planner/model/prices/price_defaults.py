"""Movement of prices that are not refreshed: the block `prices` of `catalogs/defaults.yaml`."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from planner.model.base import Frozen
from planner.model.default_quantity import DefaultQuantity, check_units, quantities
from planner.model.quantity import Unit


class PriceDefaults(Frozen):
    """Factors by which a price may lie higher or lower than the one on file."""

    stale_factor: DefaultQuantity
    """Factor for a firm price that is `stale_after` days older than its kind allows, or more."""
    stale_after: DefaultQuantity
    """Days in which the uncertainty of a firm price grows from zero to `stale_factor`."""
    spot_factor: DefaultQuantity
    """Factor for a spot or marketplace price that was observed once, `spot_after` days before its kind allows, or more.
    """
    spot_after: DefaultQuantity
    """Days in which the uncertainty of a spot or marketplace price grows from zero to `spot_factor`."""

    @model_validator(mode="after")
    def _factors(self) -> Self:
        check_units(self, {"stale_after": Unit.DAYS, "spot_after": Unit.DAYS})
        for name, factor in quantities(self).items():
            if name in ("stale_after", "spot_after"):
                continue
            if factor.unit is not Unit.RATIO or factor.low < 1:
                raise ValueError(f"{name} is a factor: write it in ratio, 1 or more in its whole range")
        return self

    def firm_factor(self, days_over: float) -> float:
        """Return the factor by which a firm price may have moved when it is this many days older than its kind allows.

        factor = stale_factor ^ min(1, days over / stale_after): the uncertainty grows evenly, and does not jump.
        """
        return _grown(self.stale_factor.value, days_over / self.stale_after.value)

    def fast_factor(self, days_over: float) -> float:
        """Return the factor for a spot or marketplace price, which moves further in fewer days."""
        return _grown(self.spot_factor.value, days_over / self.spot_after.value)


def _grown(factor: float, share: float) -> float:
    return float(factor ** min(1.0, max(0.0, share)))
