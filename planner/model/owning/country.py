"""Differences between countries for an owned machine: the price of a kWh, and wages."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Day, Frozen, Id, Positive, Text
from planner.model.currency import CurrencyCode
from planner.model.figure import Figure
from planner.model.owning.tariff import Tariff
from planner.model.quantity import Basis

CountryCode = Annotated[str, Field(pattern="^[A-Z]{2}$")]
"""Two capital letters of ISO 3166-1. EU is the European Union."""
Customers = Literal["household", "business"]


class Country(Frozen):
    """One row of `catalogs/countries.csv`."""

    id: CountryCode
    name: Text
    currency: CurrencyCode
    area: CountryCode | None = None
    """Area whose price of a kWh is used if the country has no row of its own."""
    wages_of_us_fraction: Positive
    """Wages, as a share of those in the United States at market exchange rates."""
    source: Text
    as_of: Day


class ElectricityPrice(Frozen):
    """One row of `catalogs/electricity.csv`: the price of a kWh for a kind of customer, in the row's currency."""

    id: Id
    country: CountryCode
    customers: Customers
    currency: CurrencyCode
    per_kwh: Positive
    low: Positive
    high: Positive
    """High end of the range. `low` and `high` bound the price with 90 % probability."""
    per_usd: Positive
    rate_source: Text
    source: Text
    as_of: Day

    @model_validator(mode="after")
    def _range_holds_the_value(self) -> Self:
        if not self.low <= self.per_kwh <= self.high:
            raise ValueError(f"per_kwh {self.per_kwh:g} lies outside its range {self.low:g} to {self.high:g}")
        if self.currency == "USD" and self.per_usd != 1:
            raise ValueError("per_usd of a price in USD is 1")
        return self

    @property
    def tariff(self) -> Tariff:
        """Return the row as a flat tariff, which is converted to USD like any other."""
        rate = Figure(value=self.per_usd, source=self.rate_source, as_of=self.as_of)
        price = Figure(
            value=self.per_kwh, low=self.low, high=self.high, basis=Basis.QUOTED, source=self.source, as_of=self.as_of
        )
        return Tariff(
            schema_version=1,
            id=self.id,
            name=f"{self.country}, {self.customers}",
            currency=self.currency,
            per_usd=None if self.currency == "USD" else rate,
            per_kwh=price,
            source=self.source,
            as_of=self.as_of,
        )
