"""Price of electricity: per kWh, flat or by season and hour, and per contracted kW; `catalogs/tariffs/*.yaml`."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Day, Frozen, Id, NonNegative, Text
from planner.model.currency import CurrencyCode
from planner.model.figure import PositiveFigure, UsdFigure

Month = Annotated[int, Field(strict=True, ge=1, le=12)]
Hour = Annotated[int, Field(strict=True, ge=0, le=23)]


class TariffPeriod(Frozen):
    """One price of a kWh, in some months and hours. Hour 22 is 22:00 to 23:00."""

    name: Text
    """Name of the period."""
    months: Annotated[tuple[Month, ...], Field(min_length=1)]
    """Months of the year, 1 to 12."""
    hours: Annotated[tuple[Hour, ...], Field(min_length=1)]
    """Hours of the day, 0 to 23."""
    per_kwh: NonNegative
    """Price of a kWh, in the tariff's currency."""


class Tariff(Frozen):
    """A supplier's terms, in its own currency. Either `per_kwh` (flat) or `periods` that cover every hour once."""

    schema_version: Literal[1]
    """Version of the format."""
    id: Id
    """Name by which plans and sites use it."""
    name: Text
    """Name of the tariff, for people."""
    currency: CurrencyCode
    """Currency of all its prices."""
    per_usd: PositiveFigure | None = None
    """Units of that currency for one US dollar; required if it is not USD."""
    per_kwh: UsdFigure | None = None
    """Price of a kWh at all times."""
    periods: tuple[TariffPeriod, ...] = ()
    """Prices by season and hour. They cover every hour once."""
    surcharge_per_kwh: NonNegative = 0.0
    """Surcharge on every kWh: climate and fuel charges."""
    demand_per_kw_month: NonNegative = 0.0
    """Price per contracted kW, used or not."""
    source: Text
    """Source of the tariff."""
    as_of: Day
    """Date of the source."""
    note: Text | None = None
    """A remark."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.per_kwh is None) == (not self.periods):
            raise ValueError("needs either per_kwh or periods")
        if (self.currency == "USD") != (self.per_usd is None):
            raise ValueError("per_usd is needed where the currency is not USD, and only there")
        if self.periods:
            counts = {(month, hour): 0 for month in range(1, 13) for hour in range(24)}
            for period in self.periods:
                for month in period.months:
                    for hour in period.hours:
                        counts[month, hour] += 1
            for (month, hour), count in counts.items():
                if count != 1:
                    raise ValueError(f"periods: month {month}, hour {hour} is covered {count} times; cover it once")
        return self
