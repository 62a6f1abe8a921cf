"""The normal distribution, the range that a decision counts a figure with, and chances as texts."""

from __future__ import annotations

import math
from statistics import NormalDist

from planner.model.quantity import Basis, Quantity
from planner.quantity.interval import MOST, Interval

NORMAL = NormalDist()
TAIL = NORMAL.inv_cdf(0.95)
"""Standard deviations from the middle to either end of a 90 % range: 1.645."""
UNSTATED_FACTOR = 1.5
"""Factor by which an assumed or modelled figure without a range may be off either way, 9 times in 10.

Without it a guess would count as certain, and a measured figure, which states its range, as less so.
"""


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


def percent_text(chance: float) -> str:
    """Write a chance in whole percent; never 100 % of what is not certain, nor 0 % of what may be."""
    if 0 < chance < 1:
        return f"{min(99, max(1, round(100 * chance)))} %"
    return f"{100 * chance:.0f} %"
