"""Where a machine comes from: a cloud offer with a price, or a site that is owned."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal, Self

from pydantic import model_validator

from planner.model.base import Count, Frozen, Id, NonNegative, Positive, Text
from planner.model.quantity import Quantity, Unit


class PriceKind(StrEnum):
    """Under which terms an instance is paid."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"
    SAVINGS_1Y = "savings_1y"
    SAVINGS_3Y = "savings_3y"
    RESERVED_1Y = "reserved_1y"
    RESERVED_3Y = "reserved_3y"
    CAPACITY_BLOCK = "capacity_block"
    MARKETPLACE = "marketplace"
    LEASE = "lease"


class Price(Frozen):
    """One row of `catalogs/prices/*.csv`: the whole instance, per hour; null only with a reason."""

    provider: Id
    instance_type: Id
    region: Text
    zone: Text | None = None
    price_kind: PriceKind
    usd_per_hour: Positive | None = None
    no_price_reason: Text | None = None
    low_usd_per_hour: Positive | None = None
    high_usd_per_hour: Positive | None = None
    currency: Literal["USD"]
    minimum_hours: NonNegative
    upfront_fraction: NonNegative
    source: Text
    source_version: Text
    as_of: date
    fetched_at: date
    confidence: Literal["api", "list", "third_party", "derived", "estimate"]
    note: Text | None = None

    @model_validator(mode="after")
    def _a_price_or_a_reason(self) -> Self:
        if (self.usd_per_hour is None) == (self.no_price_reason is None):
            raise ValueError("needs either usd_per_hour or no_price_reason")
        return self

    @property
    def node(self) -> str:
        """The id of the node that this price rents."""
        return f"{self.provider}/{self.instance_type}"


class Site(Frozen):
    """An owned machine: `catalogs/sites/*.yaml`, or the user's own in the workspace."""

    schema_version: Literal[1]
    id: Id
    name: Text
    node: Id
    nodes: Count = 1
    """How many such nodes stand there."""
    power: Quantity | None = None
    """What one node draws while it trains, where somebody knows; otherwise taken from the rated power."""
    electricity: Quantity | None = None
    pue: Quantity | None = None
    source: Text
    as_of: date

    @model_validator(mode="after")
    def _units(self) -> Self:
        for name, unit in (("power", Unit.KW), ("electricity", Unit.USD_PER_KWH), ("pue", Unit.RATIO)):
            quantity: Quantity | None = getattr(self, name)
            if quantity is not None and quantity.unit is not unit:
                raise ValueError(f"{name} is in {quantity.unit}; write it in {unit}")
        return self
