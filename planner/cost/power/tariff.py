"""Converts a tariff to the price of a kWh for a machine with constant power."""

from __future__ import annotations

from planner.model.currency import Currency
from planner.model.owning.tariff import Tariff
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval

DAYS_OF_MONTHS = (31, 28.25, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""Days of each month, from January; the mean year has 365.25 days."""


def month_per_kwh(tariff: Tariff, *, month: int) -> float:
    """Return the price of a kWh in one month, in the tariff's currency, for a constant load.

    price = mean over the 24 hours + surcharge. Weekends count as working days. Hours are local wall-clock hours. The
    hours lost and gained when clocks change are left out: at most 1 / 8,766 of the year at another price.
    """
    if tariff.per_kwh is not None:
        return tariff.per_kwh.value + tariff.surcharge_per_kwh
    hours = [period.per_kwh for period in tariff.periods if month in period.months for _ in period.hours]
    return sum(hours) / 24 + tariff.surcharge_per_kwh


def year_per_kwh(tariff: Tariff) -> float:
    """Return the mean price of a kWh over the year. Each month counts by its days."""
    weighted = [month_per_kwh(tariff, month=month + 1) * days for month, days in enumerate(DAYS_OF_MONTHS)]
    return sum(weighted) / sum(DAYS_OF_MONTHS)


def energy_price(tariff: Tariff, currency: Currency | None = None) -> Quantity:
    """Return the mean price of a kWh in USD."""
    flat, over = tariff.per_kwh, tariff.surcharge_per_kwh
    if flat is not None:
        own = Interval(flat.value + over, flat.lowest + over, flat.highest + over)
    else:
        own = Interval.exact(year_per_kwh(tariff))
    return _in_usd(tariff, currency, own, Unit.USD_PER_KWH, f"{own.value:.5g} {tariff.currency}/kWh")


def demand_price(tariff: Tariff, currency: Currency | None = None) -> Quantity:
    """Return the demand charge in USD per contracted kW and month; 0 if the tariff has none."""
    value = tariff.demand_per_kw_month
    return _in_usd(
        tariff, currency, Interval.exact(value), Unit.USD_PER_KW_MONTH, f"{value:g} {tariff.currency}/kW-month"
    )


def _in_usd(tariff: Tariff, currency: Currency | None, value: Interval, unit: Unit, what: str) -> Quantity:
    """Convert at the plan's rate if it states one for this currency, otherwise at the tariff's own."""
    source = f"tariff {tariff.id}: {what}; {tariff.source}"
    basis = Basis.QUOTED if tariff.per_kwh is None else tariff.per_kwh.basis
    own = to_quantity(value, unit, basis, source, tariff.as_of)
    if tariff.per_usd is None:
        return own
    if currency is not None and currency.code == tariff.currency:
        rate = Interval(currency.per_usd, currency.lowest, currency.highest)
        exchange = to_quantity(
            rate, Unit.RATIO, Basis.QUOTED, f"the plan: currency ({currency.source})", currency.as_of
        )
    else:
        exchange = tariff.per_usd.quantity(Unit.RATIO, where=f"tariff {tariff.id}: per_usd")
    usd = value.times(interval(exchange, Unit.RATIO).inverse())
    at = f"{exchange.value:g} {tariff.currency} a USD ({exchange.source})"
    return derived(usd, unit, own, exchange, source=f"{what} / {at}; {source}")
