"""Whole trainings against steady steps: how a training is run, and how the time to a quality target varies."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from planner.model.base import Count, Day, Frozen, Id, Positive, Text
from planner.model.quantity import Quantity


class Practice(StrEnum):
    """Difference between the steady steps of a benchmark and a whole training (docs/practice.md)."""

    BENCHMARK = "benchmark"
    """Steady steps of a tuned benchmark, and the stops that `goodput` counts."""
    TYPICAL = "typical"
    """Typical trainings: untuned stacks, restarts, data, evaluation, as whole trainings show."""
    TUNED = "tuned"
    """The faster quarter of whole trainings."""


class ConvergenceSpread(Frozen):
    """One row: (longest - shortest) / mean of the time to a target, over runs that differ only in their seed."""

    id: Id
    name: Text
    spread_fraction: Positive
    spread_low: Positive
    spread_high: Positive
    runs: Annotated[int, Field(ge=2, le=10)]
    """Usual number of runs in one series."""
    submissions: Count | None = None
    """Number of submissions whose median it is; null if the source gives only the figure."""
    source: Text
    as_of: Day


class Convergence(Frozen):
    """Variation of work that is stated as a quality target, kept apart from the range of the speed."""

    like: str
    fraction: Quantity
    """Half of the 90 % range of one run, as a share of the mean."""
    training_hours: Quantity
    """Hours of the steps, with the range from convergence alone, at the estimated speed."""
