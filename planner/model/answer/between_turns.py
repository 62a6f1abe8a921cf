"""When a campaign's machines are free of the turns of others, and what its runs ask of them."""

from __future__ import annotations

from planner.model.base import Frozen
from planner.model.quantity import Quantity


class FreeSets(Frozen):
    """Sets of machines that are free from one turn of others to the next."""

    opens: float
    """Hours from the campaign's first."""
    closes: float | None
    """Null: nobody takes them again."""
    sets: int
    """How many sets of machines, each for one training."""


class BetweenTurns(Frozen):
    """Equal runs, none of which is split, on machines of which others take turns."""

    runs: int
    """Trainings of the campaign."""
    run_hours: Quantity
    """Of one training, its launch included."""
    opens: float
    """Hours from the campaign's first until the machines are ready."""
    free: tuple[FreeSets, ...]
    """When sets of machines are free, in any order."""
