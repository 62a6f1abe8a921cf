"""A part that can be bought for a machine, with its price: `catalogs/hardware/upgrades.csv`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from planner.model.base import Count, Day, Frozen, Id, Positive, Text


class Upgrade(Frozen):
    """One row: a bridge that joins cards of a kind, or adapters that join nodes of any."""

    id: Id
    name: Text
    kind: Literal["bridge", "network"]
    accelerators: Text | None = None
    """Accelerator ids, separated by semicolons; null for any."""
    joins: Count
    """Cards of a bridge; for a network, the nodes that the price covers."""
    gbit_per_s: Positive | None = None
    """Rate of a network, for each node."""
    usd: Positive
    usd_low: Positive
    usd_high: Positive
    source: Text
    as_of: Day

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if not self.usd_low <= self.usd <= self.usd_high:
            raise ValueError("usd lies outside its range")
        if (self.kind == "network") == (self.gbit_per_s is None):
            raise ValueError("a network, and nothing else, has gbit_per_s")
        return self

    def fits(self, accelerator: str) -> bool:
        """Return whether it is made for an accelerator."""
        return self.accelerators is None or accelerator in self.accelerators.split(";")
