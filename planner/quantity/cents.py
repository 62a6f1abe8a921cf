"""Amounts in whole cents, or in the smallest unit of another currency, that add up: every bill's rounding rule."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal, localcontext

from planner.model.currency import Currency, minor_digits

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
