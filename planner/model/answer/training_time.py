"""Where the hours of one training go: steps, stalls, checkpoints, interruptions; part of an option's answer."""

from __future__ import annotations

from planner.model.answer.bill import Uncounted
from planner.model.base import Frozen
from planner.model.plan.convergence import Convergence
from planner.model.plan.practice import Practice
from planner.model.quantity import Quantity


class TimeLine(Frozen):
    """One line; its source is its formula."""

    what: str
    hours: Quantity


class PracticeTime(Frozen):
    """Wall-clock hours of the same training, run in another way."""

    practice: Practice
    factor: Quantity
    """Hours / those at benchmark speed."""
    wall_hours: Quantity


class TrainingTime(Frozen):
    """The lines add up to `wall_hours`: from the first step to the last, with everything that stops it on the way."""

    lines: tuple[TimeLine, ...]
    wall_hours: Quantity
    goodput: Quantity
    """Share of the wall-clock time at benchmark speed that trains: hours of the steps / (they and what is counted)."""
    lost_hours: Quantity | None
    """What is counted beside the steps; null where nothing is lost, or the plan states its goodput itself."""
    launch_hours: Quantity | None
    """Startup hours of a rented machine, from the request to the first step: set-up, failed launches, data to the
    nodes. Null: it is owned."""
    optimizer_steps: float | None
    """Null where the global batch is not known."""
    interruptions: Quantity | None
    """To be expected in one training. Null where the plan states its goodput."""
    checkpoint_interval_hours: Quantity | None
    """As counted; null where the plan states its goodput."""
    optimal_interval_hours: Quantity | None
    """After Young and Daly; null where a checkpoint's size is not known, or it costs nothing."""
    limited_by: tuple[str, ...]
    """What holds the training back besides the accelerators, in plain words."""
    uncounted: tuple[Uncounted, ...]
    convergence: Convergence | None
    """Null: the plan's work is a fixed amount."""
    practices: tuple[PracticeTime, ...] = ()
    """At benchmark speed, as people get it, tuned; the plan's `practice` says which one counts. Empty where nothing is
    stretched: a step that is stated or measured there, or a lock of before."""
    practice_hours: Quantity | None = None
    """What the plan's practice adds to the hours at benchmark speed; null where it adds none."""
