"""Differences between whole trainings and steady steps: the practice, and variation of the time to a quality target."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from planner.model.base import Count, Day, Frozen, Id, Positive, Text
from planner.model.quantity import Quantity


class Practice(StrEnum):
    """Practice that decides how much longer a whole training takes than its steady steps (docs/practice.md)."""

    BENCHMARK = "benchmark"
    """Steady steps of a tuned benchmark, plus the stops that `goodput` counts."""
    TYPICAL = "typical"
    """Typical published trainings, with untuned software, restarts, data loading and evaluation."""
    TUNED = "tuned"
    """The fastest quarter of published trainings."""


class ConvergenceSpread(Frozen):
    """Spread of the time to a quality target over runs that differ only in their seed: (longest - shortest) / mean."""

    id: Id
    name: Text
    spread_fraction: Positive
    spread_low: Positive
    spread_high: Positive
    runs: Annotated[int, Field(ge=2, le=10)]
    """Usual number of runs in one series."""
    submissions: Count | None = None
    """Number of submissions of which the spread is the median; null if the source gives only the figure."""
    source: Text
    as_of: Day


class Convergence(Frozen):
    """Variation of the work until a quality target is reached. It is separate from the range of the speed."""

    like: str
    """Id of the row of `catalogs/convergence.csv` that the plan names."""
    fraction: Quantity
    """Half of the 90 % range of one run, as a share of the mean."""
    training_hours: Quantity
    """Hours of the steps, with the range from convergence alone, at the estimated speed."""
