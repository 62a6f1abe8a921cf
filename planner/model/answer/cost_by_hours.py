"""Cost of a campaign on rented machines by its hours, if that is not proportional."""

from __future__ import annotations

from planner.model.base import Frozen


class LastingCredit(Frozen):
    """A credit, and the longest campaign that it still pays for."""

    hours: float
    usd: float


class CostByHours(Frozen):
    """Cost of a term, which rises only when the work outlasts it, and of credits, which stop paying when they expire.

    Between two points the cost is interpolated linearly.
    """

    hours: tuple[float, ...]
    """Hours of the campaign, in rising order."""
    usd: tuple[float, ...]
    """Bills for these hours, at the most likely price."""
    least_factor: float
    most_factor: float
    """Factors of the 90 % range of the bill besides its hours, mainly from its price."""
    credits: tuple[LastingCredit, ...] = ()
