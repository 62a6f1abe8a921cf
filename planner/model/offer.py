"""What a cloud asks for a machine: one price, with its terms, source and date."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal, Self

from pydantic import model_validator

from planner.model.base import Frozen, Id, NonNegative, Positive, Text


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
