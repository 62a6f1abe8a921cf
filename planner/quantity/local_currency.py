"""An amount in the plan's own currency, as USD."""

from __future__ import annotations

from planner.model.currency import Currency
from planner.model.quantity import Basis, Quantity, Unit, weakest
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval


def rate_of(currency: Currency) -> Interval:
    """Return the units of the currency for one US dollar, with their range."""
    return Interval(currency.per_usd, currency.lowest, currency.highest)


def local_to_usd(amount: float, currency: Currency, unit: Unit, basis: Basis, where: str) -> Quantity:
    """Return an amount in the plan's own currency as USD.

    USD = amount / rate; the range is that of the rate.
    """
    usd = rate_of(currency).inverse().scaled(amount)
    rate = f"{currency.per_usd:g} {currency.code} a USD ({currency.source})"
    return to_quantity(
        usd, unit, weakest(basis, Basis.QUOTED), f"{where} {amount:g} {currency.code} / {rate}", currency.as_of
    )
