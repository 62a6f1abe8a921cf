"""Companies that rent out machines, and their charges for storage and transfer (`catalogs/services.csv`)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Day, Frozen, Id, Text


class Provider(Frozen):
    """One row of `catalogs/providers.csv`."""

    id: Id
    name: Text
    families: bool = False
    """True if its machines are known by their family: the first part of an instance's name, as p4d of p4d.24xlarge."""
    refreshed: bool = False
    """True if `planner prices refresh` reads its prices. Others are renewed by asking for a quote."""


Usd = Annotated[float, Field(strict=True, ge=0, le=100)]


class Service(StrEnum):
    """Services that are charged."""

    STORAGE = "storage"
    EGRESS = "egress"
    INGRESS = "ingress"


class ServiceRate(Frozen):
    """One row: a rate in USD, 0 if the provider says that it is free; null only with a reason."""

    provider: Id
    service: Service
    usd: Usd | None = None
    unit: Literal["USD/GB-month", "USD/GiB-month", "USD/GB"]
    low_usd: Annotated[float, Field(strict=True, gt=0, le=100)] | None = None
    high_usd: Usd | None = None
    free_gb: Annotated[float, Field(strict=True, ge=0, le=1e9)]
    """Free amount each month. The bill subtracts it once."""
    no_price_reason: Text | None = None
    source: Text
    as_of: Day
    note: Text | None = None

    @model_validator(mode="after")
    def _a_price_or_a_reason(self) -> Self:
        if (self.usd is None) == (self.no_price_reason is None):
            raise ValueError("needs either usd or no_price_reason")
        if (self.service is Service.STORAGE) != self.unit.endswith("month"):
            raise ValueError(f"{self.service.value} is not priced in {self.unit}")
        if self.usd is not None and not (
            (self.usd if self.low_usd is None else self.low_usd)
            <= self.usd
            <= (self.usd if self.high_usd is None else self.high_usd)
        ):
            raise ValueError("usd must lie between low_usd and high_usd")
        return self
