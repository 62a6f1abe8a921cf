"""Chances that an uncertain number stays under a limit, and the limit for a given chance."""

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
"""Factor by which an assumed or modelled figure without a range may be off either way, 9 times in 10.

Without it a guess would count as certain, and a measured figure, which states its range, as less so.
"""


def doubted(quantity: Quantity) -> Interval:
    """Return the range for decisions: the quantity's own, or a factor of 1.5 for a guess without one."""
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
    """Return the number that the amount stays under with this chance: the inverse of `chance_below`.

    number = value x exp(s x z(chance));  z: the standard normal quantile, s as in `chance_below`
    """
    end = amount.high if chance >= 0.5 else amount.low
    if amount.value <= 0 or end <= 0 or end == amount.value:
        return amount.value
    width = abs(log(end / amount.value)) / TAIL
    return amount.value * exp(width * applied("normal_quantile", NORMAL.inv_cdf, chance))


STEPS = 128
"""Steps of Simpson's rule. The chance of two events is then accurate to 1e-5."""


def chance_of_both(first: float, other: float, *, correlation: float) -> float:
    """Return the chance that two numbers both stay under their limits: `both_below` of the chance of each."""
    return applied("chance_of_both", both_below, first, other, correlation)


def both_below(first: float, other: float, correlation: float) -> float:
    """Return the chance that two numbers both stay under their limits, from the chance of each.

    chance = p q + 1 / (2 pi) x integral from 0 to asin(r) of exp(-(x^2 + y^2 - 2 x y sin t) / (2 cos^2 t)) dt
    with p = Phi(x), q = Phi(y) and the correlation r of the logarithms of both, 0 to 1; p q at r = 0, min(p, q) at 1

    Source: Plackett, A reduction formula for normal multivariate integrals, Biometrika 41 (1954) 351.
    """
    if correlation >= 1 - 1e-6 or not (0 < first < 1 and 0 < other < 1):
        return min(first, other)
    x, y = NORMAL.inv_cdf(first), NORMAL.inv_cdf(other)
    width = math.asin(correlation) / STEPS

    def density(angle: float) -> float:
        sine = math.sin(angle)
        return math.exp(-(x * x + y * y - 2 * x * y * sine) / (2 * (1 - sine * sine)))

    inner = sum((4 if step % 2 else 2) * density(step * width) for step in range(1, STEPS))
    integral = width / 3 * (density(0.0) + inner + density(STEPS * width))
    return min(first, other, first * other + integral / (2 * math.pi))
