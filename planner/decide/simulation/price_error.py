"""By how much a cost may be off beside the hours that it grows with."""

from __future__ import annotations

import math

from planner.quantity.chance import TAIL
from planner.quantity.interval import Interval


def price_error(usd: Interval, speed: Interval, share: float) -> Interval:
    """Return the factor by which the cost may be off beside its hours: the rest in quadrature, side by side.

    `share` of the cost grows with the hours, whose error is `speed`.
    """
    if usd.value <= 0:
        return Interval.exact(1.0)
    ends = []
    for end, fast in ((usd.low, speed.low), (usd.high, speed.high)):
        whole = abs(math.log(max(end, usd.value * 1e-6) / usd.value)) / TAIL
        hours = abs(math.log(max(1 - share + share * fast, 1e-6))) / TAIL
        ends.append(math.exp(TAIL * math.sqrt(max(0.0, whole**2 - hours**2))))
    return Interval(1.0, 1 / ends[0], ends[1])
