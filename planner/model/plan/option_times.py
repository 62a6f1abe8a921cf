"""Times at which an option's machines can be used: a window of a block, turns of others, waits."""

from __future__ import annotations

from datetime import UTC
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from planner.model.base import Count, Frozen, Moment, not_tiny

MOST_TURNS = 200


class RentalWindow(Frozen):
    """Period for which machines are rented and paid for, used or not. Times carry their zone."""

    start: Moment
    """Begin of the period, with its time zone."""
    end: Moment
    """End of the period, with its time zone."""

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"end {self.end.isoformat()} is not after start {self.start.isoformat()}")
        return self

    @property
    def hours(self) -> float:
        """Length in hours."""
        return (self.end.astimezone(UTC) - self.start.astimezone(UTC)).total_seconds() / 3600


class Turn(RentalWindow):
    """A time in which others use some of the nodes: their jobs, or serving."""

    nodes: Count
    """Nodes that others use in this time."""


Turns = Annotated[tuple[Turn, ...], Field(max_length=MOST_TURNS)]


JobHours = Annotated[float, Field(strict=True, gt=0, le=10_000), AfterValidator(not_tiny)]
Machines = Annotated[int, Field(strict=True, ge=1, le=10_000)]


class Queue(Frozen):
    """Others' jobs that the first run waits for: those ahead of it now, or the busy share that they cause."""

    jobs: Annotated[int, Field(strict=True, ge=0, le=10_000)] | None = None
    """Jobs ahead, including running ones. They take `job_hours` on average."""
    busy: Annotated[float, Field(strict=True, ge=0, le=0.99)] | None = None
    """Share of the machines' time taken by randomly arriving jobs."""
    job_hours: JobHours
    """Mean hours of a job."""
    machines: Machines = 1
    """Machines that serve the queue.

    A single one takes jobs of equal length (M/D/1); with several their lengths vary (M/M/c).
    """

    @model_validator(mode="after")
    def _one_way_to_say_how_long(self) -> Self:
        if (self.jobs is None) == (self.busy is None):
            raise ValueError("needs one of jobs (ahead now) and busy (share of the time)")
        return self


class Tries(Frozen):
    """Observed availability: how often machines were available."""

    had: Machines
    """Number of looks at which machines were available."""
    of: Machines
    """Number of looks."""
    every_hours: JobHours
    """Hours between two looks, and between two tries."""

    @model_validator(mode="after")
    def _no_more_than_all(self) -> Self:
        if self.had > self.of:
            raise ValueError(f"had {self.had} is more than of {self.of}")
        return self
