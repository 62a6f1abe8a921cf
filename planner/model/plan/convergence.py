"""Variation between runs in the time to a quality target: `catalogs/convergence.csv`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.model.base import Count, Day, Frozen, Id, Positive, Text
from planner.model.quantity import Quantity


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
