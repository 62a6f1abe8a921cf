"""Amounts in whole cents that add up: the rounding rule of every bill."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal, localcontext

CENT = Decimal("0.01")
DIGITS = 60
"""Enough for any amount that a plan allows, to the cent."""


def to_cents(usd: float) -> Decimal:
    """Round to the cent, half up; `repr` of a float is the shortest decimal that means it."""
    with localcontext(prec=DIGITS):
        return Decimal(repr(usd)).quantize(CENT, rounding=ROUND_HALF_UP)


def in_cents(amounts: Sequence[float]) -> tuple[list[Decimal], Decimal]:
    """Return the amounts in cents, and their total: the exact sum, rounded once.

    Each amount is rounded down, and the cents that are then missing go one each to the largest remainders (the
    largest-remainder method), so the lines add up to the total and none is a cent or more away from its exact value.
    """
    with localcontext(prec=DIGITS):
        exact = [Decimal(repr(amount)) for amount in amounts]
        total = sum(exact, Decimal(0)).quantize(CENT, rounding=ROUND_HALF_UP)
        floors = [amount.quantize(CENT, rounding=ROUND_FLOOR) for amount in exact]
        missing = int((total - sum(floors, Decimal(0))) / CENT)
        by_remainder = sorted(range(len(exact)), key=lambda place: (floors[place] - exact[place], place))
        for place in by_remainder[:missing]:
            floors[place] += CENT
        return floors, total
