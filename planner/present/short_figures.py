"""Writes figures for people: two or three digits, short ranges, one unit per table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.model.quantity import Quantity
from planner.quantity.time_units import HOURS_PER_DAY

NARROW = 1.5
"""Ratio of a range's ends below which three digits are written."""
DAYS_FROM_HOURS = 48.0
CLOSE = 1.1
"""A number of two digits may be 5 % off, so both numbers of a pair this close may swap."""
MILLION = 1e6
MILLIONS_FROM = 10 * MILLION


@dataclass(frozen=True)
class Scale:
    """Unit of a column of figures. Values are divided by `divisor`."""

    title: str
    divisor: float
    money: bool = False

    def value(self, quantity: Quantity) -> str:
        """Write the value: three digits for money, for narrow ranges and from 100 on, else two."""
        three = self.money or abs(quantity.value) >= 100 * self.divisor
        return self.number(quantity.value, digits=3 if three else _digits(quantity))

    def interval(self, quantity: Quantity) -> str:
        """Write the 90 % range in brackets; empty if there is none."""
        if quantity.low == quantity.high:
            return ""
        digits, dash = _digits(quantity), " to " if quantity.low < 0 else "-"
        return f"({self.number(quantity.low, digits=digits)}{dash}{self.number(quantity.high, digits=digits)})"

    def number(self, value: float, *, digits: int) -> str:
        """Write one number."""
        return short_text(value / self.divisor, digits=digits, most_decimals=2 if self.money else 3)


def short_text(value: float, *, digits: int, most_decimals: int = 3) -> str:
    """Write a number with significant digits: with three, 15,469 is 15,500 and 0.5429 is 0.543."""
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    if rounded != 0 and math.floor(math.log10(abs(rounded))) > math.floor(math.log10(abs(value))):
        decimals -= 1  # 9.96 with two digits is 10, not 10.0
    if decimals > most_decimals and abs(value) < 0.5 * 10**-most_decimals:
        return f"<{10**-most_decimals:g}"
    return f"{rounded:,.{min(max(decimals, 0), most_decimals)}f}"


def time_scale(hours: Sequence[float]) -> Scale:
    """Return the unit for hours: days for a median from 48 hours, hours from 1 hour, else minutes."""
    known = sorted(value for value in hours if value > 0)
    middle = known[len(known) // 2] if known else 1.0
    if middle >= DAYS_FROM_HOURS:
        return Scale("days", HOURS_PER_DAY)
    return Scale("hours", 1.0) if middle >= 1 else Scale("minutes", 1 / 60)


def money_scale(amounts: Sequence[float], code: str) -> Scale:
    """Return the unit for amounts of a currency: millions if the largest is at least ten million."""
    if max(amounts, default=0.0) >= MILLIONS_FROM:
        return Scale(f"million {code}", MILLION, money=True)
    return Scale(code, 1.0, money=True)


def _digits(quantity: Quantity) -> int:
    """Return 3 for a narrow range, or one that ends close to the value: rounded to 2, it might not hold the value."""
    low, value, high = quantity.low, quantity.value, quantity.high
    return 3 if low > 0 and (high < NARROW * low or value < CLOSE * low or high < CLOSE * value) else 2
