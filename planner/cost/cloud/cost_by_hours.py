"""Rent of a set of machines, and payments by credits, over every length that a campaign may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner.model.answer.campaign import CostByHours, LastingCredit
from planner.quantity.interval import Interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

ROUNDING = 1e-9
"""Tolerance of hours: work that ends with the last day of a credit is paid by it."""


def usd_at(cost: CostByHours, hours: Array) -> Array:
    """Return the rents of a set of machines for these billed hours, at the most likely price."""
    import numpy as np

    return np.interp(hours, cost.hours, cost.usd)


def rent_of_sets(cost: CostByHours, sets: Mapping[float, int]) -> float:
    """Return the rent of all sets of machines, given their number by the billed hours of each."""
    import numpy as np

    return float(np.dot(usd_at(cost, np.array(list(sets))), list(sets.values())))


def credits_at(credits: Sequence[LastingCredit], hours: Array) -> Array:
    """Return the payments by credits for campaigns of these lengths: credits count if they last until the end."""
    import numpy as np

    return np.asarray(
        sum((credit.usd * (hours <= credit.hours * (1 + ROUNDING)) for credit in credits), np.zeros(hours.shape))
    )


def price_range(cost: CostByHours) -> Interval:
    """Return the factor by which the bill may be off besides its hours."""
    return Interval(1.0, cost.least_factor, cost.most_factor)
