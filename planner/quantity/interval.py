"""A value with its 90 % range, how ranges combine, the range that a decision counts with, and chances as texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple, Self

from planner.model.quantity import Basis, Quantity

MOST = 1e6
"""Multiple of the value at which an unbounded range is cut off."""


class Interval(NamedTuple):
    """A positive value that lies between `low` and `high` with 90 % probability; `low` may be zero."""

    value: float
    low: float
    high: float

    @classmethod
    def exact(cls, value: float) -> Self:
        """Return a value without spread: a list price, a count."""
        return cls(value, value, value)

    @classmethod
    def within_factor(cls, value: float, factor: float) -> Self:
        """Return `value / factor` to `value * factor`."""
        return cls(value, value / factor, value * factor)

    def scaled(self, factor: float) -> Interval:
        """Return the interval times an exact positive number, or zero."""
        return Interval(self.value * factor, self.low * factor, self.high * factor)

    def times(self, other: Interval) -> Interval:
        """Return the product of two independent uncertain numbers.

        Log ranges add in quadrature on each side: ln(high / value) = sqrt(sum ln(high_i / value_i)^2),
        which is exact for independent lognormal errors, and exact where only one factor is uncertain.
        Source: propagation of uncertainty, JCGM 100:2008 section 5.1, in log space.
        """
        value = self.value * other.value
        if value == 0:
            return Interval.exact(0.0)
        up = math.hypot(math.log(self.high / self.value), math.log(other.high / other.value))
        down = math.hypot(_log_over(self.value, self.low), _log_over(other.value, other.low))
        return Interval(value, min(value, value * math.exp(-down)), max(value, value * math.exp(up)))

    def inverse(self) -> Interval:
        """Return 1 / self, with the range reversed.

        If the range begins at zero, the result ends at a million times the value.
        """
        return Interval(1 / self.value, 1 / self.high, 1 / max(self.low, self.value / MOST))

    def widened_to(self, fraction: float) -> Interval:
        """Return a range at least `fraction` of the value wide on each side."""
        return Interval(
            self.value, min(self.low, self.value * (1 - fraction)), max(self.high, self.value * (1 + fraction))
        )


def _log_over(value: float, low: float) -> float:
    """Return ln(value / low). A range that begins at zero is infinitely wide."""
    return math.log(value / low) if low > 0 else math.inf


def sum_of(parts: Sequence[Interval]) -> Interval:
    """Add ranges end to end, as if all erred together: the widest that the sum can have."""
    return Interval(sum(p.value for p in parts), sum(p.low for p in parts), sum(p.high for p in parts))


NORMAL = NormalDist()
TAIL = NORMAL.inv_cdf(0.95)
"""Standard deviations from the middle to either end of a 90 % range: 1.645."""
UNSTATED_FACTOR = 1.5
"""Factor by which an assumed or modelled figure without a range may be off either way, 9 times in 10.

Without it a guess would count as certain, and a measured figure, which states its range, as less so.
"""


def sum_of_ends(parts: Sequence[Interval]) -> Interval:
    """Return the sum of ranges that err together: value, low and high are added each."""
    return Interval(*map(sum, zip(*parts, strict=True)))


def doubted(quantity: Quantity) -> Interval:
    """Return the range for decisions: the quantity's own, or a factor of 1.5 for a guess without one."""
    if quantity.low == quantity.high and quantity.basis in (Basis.ASSUMED, Basis.MODELLED):
        return Interval.within_factor(quantity.value, UNSTATED_FACTOR)
    return Interval(quantity.value, quantity.low, quantity.high)


def decided(quantity: Quantity, *, doubtful: bool) -> Interval:
    """Return the range that a decision counts with; a figure whose measurement is contradicted may be off by 1.5 more.

    `doubtful`: the measurement that it rests on is contradicted.
    """
    band = doubted(quantity)
    return band.times(Interval.within_factor(1.0, UNSTATED_FACTOR)) if doubtful else band


def log_deviation(band: Interval) -> float:
    """Return the standard deviation of a range's logarithm, the mean of both sides; 0 if the number is nothing.

    sd = ln(high / low) / (2 x 1.645)
    """
    if band.value <= 0:
        return 0.0
    return math.log(band.high / max(band.low, band.value / MOST)) / (2 * TAIL)
