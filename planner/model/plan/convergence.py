"""How much longer or shorter one run takes than another to reach a quality target: `catalogs/convergence.csv`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.model.base import Count, Day, Frozen, Id, Positive, Text
from planner.model.quantity import Quantity


class ConvergenceSpread(Frozen):
    """One row: of runs that differ in their seed alone, (longest - shortest) / mean of the time to a target."""

    id: Id
    name: Text
    spread_fraction: Positive
    spread_low: Positive
    spread_high: Positive
    runs: Annotated[int, Field(ge=2, le=10)]
    """In one series, usually."""
    submissions: Count | None = None
    """Whose median it is; null where the source gives the figure alone."""
    source: Text
    as_of: Day


class Convergence(Frozen):
    """Of work that is stated as a quality target; kept apart from the range of the speed."""

    like: str
    fraction: Quantity
    """Half of the 90 % range of one run, as a share of the mean."""
    training_hours: Quantity
    """Of the steps: the range by convergence alone, at the estimated speed."""
