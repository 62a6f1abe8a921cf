"""Propagates the uncertainty of inputs to an answer: each input moves alone, and the effects add in quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from planner.quantity.interval import Interval
from planner.quantity.recorded_number import unrecorded

Inputs = TypeVar("Inputs")


@dataclass(frozen=True)
class Swing:
    """The answer at the low and at the high end of one input."""

    name: str
    at_low: float
    at_high: float

    @property
    def width(self) -> float:
        """Difference between the two answers."""
        return abs(self.at_high - self.at_low)


def swings(
    answer: Callable[[Inputs], float], inputs: Inputs, ranges: Mapping[str, Interval], with_input: Callable[..., Inputs]
) -> list[Swing]:
    """Evaluate the answer at both ends of every uncertain input while the other inputs stay; widest first.

    `with_input(inputs, name, value)` returns the inputs with one changed. Source: one-at-a-time sensitivity (tornado).
    """
    with unrecorded():
        unsorted = [
            Swing(name, answer(with_input(inputs, name, ends.low)), answer(with_input(inputs, name, ends.high)))
            for name, ends in ranges.items()
            if ends.low < ends.high
        ]
    return sorted(unsorted, key=lambda swing: (-swing.width, swing.name))


def combined(value: float, swings: list[Swing]) -> Interval:
    """Return the range of an answer from its swings.

    up = sqrt(sum of (max(value, at_low, at_high) - value)^2), down likewise. If the answer is positive at all ends,
    this is done in logarithms, because such ranges multiply. If no end changes the answer's sign, its range does not
    cross 0. Source: propagation of uncertainty, JCGM 100:2008 section 5.1.
    """
    highs = [max(value, swing.at_low, swing.at_high) for swing in swings]
    lows = [min(value, swing.at_low, swing.at_high) for swing in swings]
    if value > 0 and all(low > 0 for low in lows):
        up = math.hypot(*(math.log(high / value) for high in highs))
        down = math.hypot(*(math.log(value / low) for low in lows))
        return Interval(value, min(value, value * math.exp(-down)), max(value, value * math.exp(up)))
    low = value - math.hypot(*(value - swing for swing in lows))
    high = value + math.hypot(*(swing - value for swing in highs))
    if min(lows, default=value) >= 0:
        low = max(low, 0.0)
    if max(highs, default=value) <= 0:
        high = min(high, 0.0)
    return Interval(value, low, high)


def signed_product(positive: Interval, signed: Interval) -> Interval:
    """Return the product of a positive number and one that may be negative.

    If it may be, the range goes from the lowest to the highest product of their ends.
    """
    if signed.low > 0:
        return positive.times(signed)
    corners = [left * right for left in (positive.low, positive.high) for right in (signed.low, signed.high)]
    return Interval(positive.value * signed.value, min(corners), max(corners))


def crossing(function: Callable[[float], float], low: float, high: float) -> float | None:
    """Return the point between `low` and `high` where a function changes sign; None if it does not. 60 bisections."""
    with unrecorded():
        at_low, at_high = function(low), function(high)
        if not (at_low < 0 < at_high or at_high < 0 < at_low):
            return None
        for _ in range(60):
            middle = (low + high) / 2
            if (function(middle) < 0) == (at_low < 0):
                low = middle
            else:
                high = middle
    return (low + high) / 2
