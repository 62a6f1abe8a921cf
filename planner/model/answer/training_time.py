"""Hours of one training by use: steps, stalls, checkpoints, interruptions. It is part of an option's answer."""

from __future__ import annotations

from planner.model.answer.bill import Uncounted
from planner.model.base import Frozen
from planner.model.plan.convergence import Convergence, Practice
from planner.model.quantity import Quantity


class TimeLine(Frozen):
    """One line. Its source is its formula."""

    what: str
    hours: Quantity


class PracticeTime(Frozen):
    """Wall-clock hours of the same training, run in another way."""

    practice: Practice
    factor: Quantity
    """Hours relative to those at benchmark speed."""
    wall_hours: Quantity


class TrainingTime(Frozen):
    """Hours by line, which add up to `wall_hours`: from the first step to the last, with all stops on the way."""

    lines: tuple[TimeLine, ...]
    wall_hours: Quantity
    goodput: Quantity
    """Share of the wall-clock time at benchmark speed that trains: hours of the steps / (they and the counted losses).
    """
    lost_hours: Quantity | None
    """Hours counted besides the steps; null if nothing is lost, or the plan states its goodput itself."""
    launch_hours: Quantity | None
    """Startup hours of a rented machine, from the request to the first step: set-up, failed launches, data to the
    nodes. Null if owned.
    """
    optimizer_steps: float | None
    """Number of optimizer steps; null if the global batch is unknown."""
    interruptions: Quantity | None
    """Expected number of interruptions in one training; null if the plan states its goodput."""
    checkpoint_interval_hours: Quantity | None
    """Interval as counted; null if the plan states its goodput."""
    optimal_interval_hours: Quantity | None
    """Optimal interval after Young and Daly; null if a checkpoint's size is unknown, or it costs nothing."""
    limited_by: tuple[str, ...]
    """Limits on the training besides the accelerators, in plain words."""
    uncounted: tuple[Uncounted, ...]
    convergence: Convergence | None
    """Spread of the work to a quality target; null if the plan's work is a fixed amount."""
    practices: tuple[PracticeTime, ...] = ()
    """Times at benchmark speed, typical and tuned; the plan's `practice` says which one counts.

    Empty if nothing is stretched: a stated or measured step, or an older lock.
    """
    practice_hours: Quantity | None = None
    """Hours that the plan's practice adds to those at benchmark speed; null if it adds none."""
