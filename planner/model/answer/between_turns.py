"""Times at which others leave a campaign's machines free, and the needs of its runs."""

from __future__ import annotations

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
