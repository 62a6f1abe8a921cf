"""An amount in the plan's own currency, as USD."""

from __future__ import annotations

from datetime import date

from planner.model.currency import Currency
from planner.model.quantity import Basis, Quantity, Unit, weakest
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval

RATE_DAYS = 30
"""Age in days from which on an exchange rate is old, as a price by the hour is: it may have moved by 3 %."""


def rate_of(currency: Currency) -> Interval:
    """Return the units of the currency for one US dollar, with their range."""
    return Interval(currency.per_usd, currency.lowest, currency.highest)


def local_to_usd(amount: float, currency: Currency, unit: Unit, basis: Basis, where: str) -> Quantity:
    """Return an amount in the plan's own currency as USD.

    USD = amount / rate; the range is that of the rate. The amount has no date: the rate's is in `currency`.
    """
    usd = rate_of(currency).inverse().scaled(amount)
    rate = f"{currency.per_usd:g} {currency.code} a USD ({currency.source})"
    return to_quantity(usd, unit, weakest(basis, Basis.QUOTED), f"{where} {amount:g} {currency.code} / {rate}")


def old_rate_note(currency: Currency | None, *, today: date | None) -> str | None:
    """Return that the plan's exchange rate is old; None for a recent rate, and without a day or a currency."""
    if currency is None or today is None:
        return None
    days = (today - currency.as_of).days
    if days <= RATE_DAYS:
        return None
    rate = f"{currency.per_usd:,g} {currency.code} a USD"
    return f"the exchange rate, {rate}, is {days} days old: write today's under currency in the plan"
