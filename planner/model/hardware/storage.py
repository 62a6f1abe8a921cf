"""Read and write rates of storage: `catalogs/storage.csv`, or a plan's or site's own figures."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from planner.model.base import Day, Frozen, Id, Positive, Text
from planner.model.figure import PositiveFigure
from planner.model.quantity import Basis, Quantity, Unit

Scope = Literal["accelerator", "node", "training"]
"""Owner of the rates: one drive for each accelerator, a volume for each node, or one for the whole training."""


class StorageRates(Frozen):
    """The user's own storage, written out."""

    read_gb_per_s: PositiveFigure
    """Reading, GB/s of 10^9 bytes."""
    write_gb_per_s: PositiveFigure
    """Writing, GB/s of 10^9 bytes."""
    scope: Scope = "training"
    """Owner of these rates: each accelerator, each node, or the whole training."""


class StorageKind(Frozen):
    """One row: GB/s of 10^9 bytes, with the range that such storage gives."""

    id: Id
    name: Text
    read_gb_per_s: Positive
    read_low: Positive
    read_high: Positive
    write_gb_per_s: Positive
    write_low: Positive
    write_high: Positive
    scope: Scope
    basis: Basis
    source: Text
    as_of: Day

    @model_validator(mode="after")
    def _ranges_hold_their_values(self) -> Self:
        for name in ("read", "write"):
            low, value, high = (getattr(self, f"{name}_{part}") for part in ("low", "gb_per_s", "high"))
            if not low <= value <= high:
                raise ValueError(f"{name}_gb_per_s must lie between {name}_low and {name}_high")
        return self

    @property
    def read(self) -> Quantity:
        """Read rate."""
        return self._rate(self.read_low, self.read_gb_per_s, self.read_high)

    @property
    def write(self) -> Quantity:
        """Write rate."""
        return self._rate(self.write_low, self.write_gb_per_s, self.write_high)

    def _rate(self, low: float, value: float, high: float) -> Quantity:
        return Quantity(
            value=value, low=low, high=high, unit=Unit.GB_PER_S, basis=self.basis,
            source=f"{self.name}: {self.source}", as_of=self.as_of,
        )  # fmt: skip
