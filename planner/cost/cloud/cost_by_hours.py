"""Cost of a term, and payments by credits, over every length that a campaign may have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from planner.model.answer.cost_by_hours import CostByHours, LastingCredit
from planner.quantity.chance import NORMAL, TAIL
from planner.quantity.interval import MOST, Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

CELLS = 1_000
"""Equally likely lengths of a campaign. A chance is then accurate to a tenth of a percent."""
HALVINGS = 45
"""Steps of the bisection, which ends far below a cent."""
ROUNDING = 1e-9
"""Tolerance of hours: work that ends with the last day of a credit is paid by it."""


def usd_at(cost: CostByHours, hours: Array) -> Array:
    """Return the bills of campaigns of these lengths, at the most likely price."""
    import numpy as np

    return np.interp(hours, cost.hours, cost.usd)


def credits_at(credits: Sequence[LastingCredit], hours: Array) -> Array:
    """Return the payments by credits for campaigns of these lengths: credits count if they last until the end."""
    import numpy as np

    return np.asarray(
        sum((credit.usd * (hours <= credit.hours * (1 + ROUNDING)) for credit in credits), np.zeros(hours.shape))
    )


def price_range(cost: CostByHours) -> Interval:
    """Return the factor by which the bill may be off besides its hours."""
    return Interval(1.0, cost.least_factor, cost.most_factor)


def chance_within(cost: CostByHours, hours: Interval, budget: Interval, *, in_time: float = 1.0) -> float:
    """Return the chance that the remaining payment stays in the budget, and with `in_time` also that the hours do.

    chance = mean over equally likely hours h of P(price error x bill(h) <= budget + credits that last until h)

    `in_time` is the chance that the hours keep their limit. It selects the shortest campaigns.
    """
    import numpy as np

    drawn, (chances, deviations) = _quantiles(hours), _cells()
    usd, off = usd_at(cost, drawn), price_range(cost)
    low, value, high = (end + credits_at(cost.credits, drawn) for end in (budget.low, budget.value, budget.high))
    room = np.log(np.maximum(value, 1e-300) / usd)
    above = np.hypot(math.log(off.high), np.log(np.maximum(value, 1e-300) / np.maximum(low, 1e-300))) / TAIL
    below = np.hypot(math.log(1 / off.low), np.log(np.maximum(high, 1e-300) / np.maximum(value, 1e-300))) / TAIL
    width = np.where(room >= 0, above, below)
    certain = (room >= -1e-12).astype(float)
    scaled = np.divide(room, width, out=np.zeros_like(room), where=width > 0)
    kept = np.where(width > 0, np.interp(scaled, deviations, chances, left=0.0, right=1.0), certain)
    return float(np.mean(kept * np.clip(in_time * CELLS - np.arange(CELLS), 0.0, 1.0)))


def usd_within(cost: CostByHours, hours: Interval, chance: float) -> float:
    """Return the USD that suffice with this chance: the smallest budget that is kept with it."""
    if chance_within(cost, hours, Interval.exact(0.0)) >= chance:
        return 0.0
    least, most = 0.0, float(usd_at(cost, _quantiles(hours))[-1]) * cost.most_factor**2
    for _ in range(HALVINGS):
        middle = (least + most) / 2
        kept = chance_within(cost, hours, Interval.exact(middle)) >= chance
        least, most = (least, middle) if kept else (middle, most)
    return most


def after_credits(cost: CostByHours, hours: Interval) -> Interval:
    """Return the remaining payment: at the most likely hours, with its 90 % range."""
    import numpy as np

    likely = np.array([hours.value])
    value = max(0.0, float(usd_at(cost, likely)[0] - credits_at(cost.credits, likely)[0]))
    low, high = (usd_within(cost, hours, chance) for chance in (0.05, 0.95))
    return Interval(value, min(value, low), max(value, high))


def _quantiles(hours: Interval) -> Array:
    """Return equally likely hours, the fewest first: the two-piece log-normal of `planner/quantity/chance.py`."""
    import numpy as np

    up = math.log(hours.high / hours.value) / TAIL
    down = math.log(hours.value / max(hours.low, hours.value / MOST)) / TAIL
    deviations = _cells()[1]
    return np.asarray(hours.value * np.exp(np.where(deviations > 0, up, down) * deviations))


@cache
def _cells() -> tuple[Array, Array]:
    """Return the middle chances of the cells, and the distance of each in standard deviations."""
    import numpy as np

    chances = (np.arange(CELLS) + 0.5) / CELLS
    return chances, np.array([NORMAL.inv_cdf(float(chance)) for chance in chances])
