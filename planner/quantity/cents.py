"""Amounts in whole cents or another currency's smallest unit that add up, and amounts in the plan's own currency."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal, localcontext

from planner.model.currency import Currency, minor_digits
from planner.model.quantity import Basis, Quantity, Unit, weakest
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval

CENT = Decimal("0.01")
DIGITS = 60
"""Enough digits for any amount that a plan allows, to the cent."""
_CONTEXT = Context(prec=DIGITS)
"""Shared decimal context, because creating a local one for every amount would be slow."""


def to_cents(usd: float) -> Decimal:
    """Round to the cent, half up. `repr` of a float is the shortest decimal that means it."""
    return Decimal(repr(usd)).quantize(CENT, rounding=ROUND_HALF_UP, context=_CONTEXT)


def to_local(usd: float, currency: Currency) -> Decimal:
    """Return USD x rate in the currency's smallest unit, half up: whole won, cents of a euro."""
    with localcontext(prec=DIGITS):
        return _local(usd, currency).quantize(_unit(currency), rounding=ROUND_HALF_UP)


def in_cents(amounts: Sequence[float]) -> tuple[list[Decimal], Decimal]:
    """Return the amounts in cents, and their total: the exact sum, rounded once.

    Each amount is rounded down, and the missing cents go one each to the largest remainders (the largest-remainder
    method). So the lines add up to the total, and none is a cent or more away from its exact value.
    """
    with localcontext(prec=DIGITS):
        return _adding_up([Decimal(repr(amount)) for amount in amounts], CENT)


def in_local(usd: Sequence[float], currency: Currency) -> list[Decimal]:
    """Return amounts x rate in the currency's smallest unit, so that they add up to `to_local` of their sum."""
    with localcontext(prec=DIGITS):
        return _adding_up([_local(amount, currency) for amount in usd], _unit(currency))[0]


def _adding_up(exact: Sequence[Decimal], unit: Decimal) -> tuple[list[Decimal], Decimal]:
    total = sum(exact, Decimal(0)).quantize(unit, rounding=ROUND_HALF_UP)
    floors = [amount.quantize(unit, rounding=ROUND_FLOOR) for amount in exact]
    missing = int((total - sum(floors, Decimal(0))) / unit)
    by_remainder = sorted(range(len(exact)), key=lambda place: (floors[place] - exact[place], place))
    for place in by_remainder[:missing]:
        floors[place] += unit
    return floors, total


def _local(usd: float, currency: Currency) -> Decimal:
    return Decimal(repr(usd)) * Decimal(repr(currency.per_usd))


def _unit(currency: Currency) -> Decimal:
    return Decimal(1).scaleb(-minor_digits(currency.code))


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
