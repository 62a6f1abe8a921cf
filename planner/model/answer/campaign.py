"""Parts of a campaign's answer: the times at which its machines are free, its cost by its hours, and its simulation."""

from __future__ import annotations

from datetime import date

from planner.model.base import Frozen
from planner.model.quantity import Quantity


class FreeSets(Frozen):
    """Sets of machines that are free from one turn of others to the next."""

    opens: float
    """Start of the free time, in hours from the campaign's first hour."""
    closes: float | None
    """End of the free time in such hours; null if the machines stay free."""
    sets: int
    """Number of sets of machines, each for one training."""


class BetweenTurns(Frozen):
    """Equal runs on machines that others use in turns. No run is split."""

    runs: int
    """Trainings of the campaign."""
    run_hours: Quantity
    """Hours of one training, including its launch."""
    opens: float
    """Hours from the campaign's start until the machines are ready."""
    free: tuple[FreeSets, ...]
    """Times at which sets of machines are free, in any order."""


class LastingCredit(Frozen):
    """A credit, and the longest campaign that it still pays for."""

    hours: float
    usd: float


class CostByHours(Frozen):
    """Rent of a set of machines, which of a term rises only when the work outlasts it, and credits, which expire.

    Between two points the rent is interpolated linearly.
    """

    hours: tuple[float, ...]
    """Billed hours of one set of machines, in rising order."""
    usd: tuple[float, ...]
    """Rents of one set for these hours, at the most likely price."""
    run_hours: float = 0.0
    """Likely billed hours of a mean training; 0 if the rent does not grow with the hours."""
    least_factor: float
    most_factor: float
    """Factors of the 90 % range of the bill besides its hours, mainly from its price."""
    credits: tuple[LastingCredit, ...] = ()


class SimulatedSpread(Frozen):
    """Quantiles of a simulated campaign: a tenth of all ends are below p10, half below p50, nine tenths below p90."""

    p10: float
    p50: float
    p90: float


class SimulatedCampaign(Frozen):
    """A plan, played through many times (docs/simulation.md)."""

    replications: int
    seed: int
    chance_deadline: float | None
    """Chance to meet the deadline; null without one."""
    chance_budget: float | None
    """Chance to keep the budget; null without one."""
    chance: float | None
    """Chance that it keeps both together."""
    usd: SimulatedSpread
    hours: SimulatedSpread
    """Hours from the campaign's start to the end of the last run."""
    finish: tuple[date, ...]
    """Days on which the last run ends."""
