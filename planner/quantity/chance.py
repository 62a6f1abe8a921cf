"""Chances that an uncertain number stays under a limit, and the number that it stays under with a chance."""

from __future__ import annotations

import math
from statistics import NormalDist

from planner.model.quantity import Basis, Quantity
from planner.quantity.formula import applied, exp, formula, log
from planner.quantity.interval import Interval

NORMAL = NormalDist()
TAIL = NORMAL.inv_cdf(0.95)
"""Standard deviations from the middle to either end of a 90 % range: 1.645."""
UNSTATED_FACTOR = 1.5
"""Of a figure that is assumed or modelled and states no range: how far it may be off both ways, 9 times in 10.

Without it a guess would count as certain, and a measured figure, which states its range, as less so.
"""


def doubted(quantity: Quantity) -> Interval:
    """Return the range that a decision counts with: the quantity's own, or of a guess without one a factor of 1.5."""
    if quantity.low == quantity.high and quantity.basis in (Basis.ASSUMED, Basis.MODELLED):
        return Interval.within_factor(quantity.value, UNSTATED_FACTOR)
    return Interval(quantity.value, quantity.low, quantity.high)


@formula("")
def chance_below(amount: Interval, limit: float) -> float:
    """Return the chance that the number is at most the limit.

    chance = Phi(ln(limit / value) / s);  s = ln(high / value) / 1.645 above the value, ln(value / low) / 1.645 below

    Log-normal on either side of the value, which is the median. A number without a range is certain.
    Source: two-piece (split) log-normal distribution; the 90 % range gives both of its widths.
    """
    if limit >= amount.value and amount.high == amount.value:
        return 1.0
    if limit <= 0 or (limit < amount.value and amount.low == amount.value):
        return 1.0 if amount.value <= limit else 0.0
    if amount.value <= 0:
        return 1.0
    end = amount.high if limit >= amount.value else amount.low
    width = abs(log(end / amount.value)) / TAIL if end > 0 else math.inf
    return applied("normal_cdf", NORMAL.cdf, log(limit / amount.value) / width)


@formula("")
def stays_under(amount: Interval, chance: float) -> float:
    """Return the number that it stays under with this chance: the inverse of `chance_below`.

    number = value x exp(s x z(chance));  z: the standard normal quantile, s as in `chance_below`
    """
    end = amount.high if chance >= 0.5 else amount.low
    if amount.value <= 0 or end <= 0 or end == amount.value:
        return amount.value
    width = abs(log(end / amount.value)) / TAIL
    return amount.value * exp(width * applied("normal_quantile", NORMAL.inv_cdf, chance))
