"""What a campaign on rented machines costs by the hours it takes, where that is no fixed price an hour."""

from __future__ import annotations

from planner.model.base import Frozen


class LastingCredit(Frozen):
    """A credit, and the longest campaign that it still pays for."""

    hours: float
    usd: float


class CostByHours(Frozen):
    """The cost of a term rises only where the work outlasts it; a credit that has expired pays nothing.

    The cost between two points is that of the straight line between them.
    """

    hours: tuple[float, ...]
    """Of the campaign, in rising order."""
    usd: tuple[float, ...]
    """The bill of as many hours, by the most likely price."""
    least_factor: float
    most_factor: float
    """The 90 % range of what the bill may be off by beside its hours: its price above all."""
    credits: tuple[LastingCredit, ...] = ()
