"""Times at which an option's machines can be used: a rented window, turns of other users, waits."""

from __future__ import annotations

from datetime import UTC
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from planner.model.base import Count, Frozen, Moment, not_tiny

MOST_TURNS = 200


class RentalWindow(Frozen):
    """Period for which machines are rented and paid for, used or not. Times have a time zone."""

    start: Moment
    """Start of the period, with its time zone."""
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
    """Period in which other users have some of the nodes, for their jobs or for serving."""

    nodes: Count
    """Number of nodes that other users have in this period."""


Turns = Annotated[tuple[Turn, ...], Field(max_length=MOST_TURNS)]


JobHours = Annotated[float, Field(strict=True, gt=0, le=10_000), AfterValidator(not_tiny)]
Machines = Annotated[int, Field(strict=True, ge=1, le=10_000)]


class Queue(Frozen):
    """Jobs of other users that the first run waits for: their number now, or the share of time that they take."""

    jobs: Annotated[int, Field(strict=True, ge=0, le=10_000)] | None = None
    """Jobs ahead, including running ones. They take `job_hours` on average."""
    busy: Annotated[float, Field(strict=True, ge=0, le=0.99)] | None = None
    """Share of the machines' time taken by randomly arriving jobs."""
    job_hours: JobHours
    """Mean hours of a job."""
    machines: Machines = 1
    """Machines that serve the queue.

    With one machine, jobs are modelled as equally long (M/D/1); with several, their lengths vary (M/M/c).
    """

    @model_validator(mode="after")
    def _either_jobs_or_busy(self) -> Self:
        if (self.jobs is None) == (self.busy is None):
            raise ValueError("needs either jobs (ahead now) or busy (share of the time), not both")
        return self


class Tries(Frozen):
    """Observed availability: how often machines were available."""

    had: Machines
    """Number of tries at which machines were available."""
    of: Machines
    """Number of tries."""
    every_hours: JobHours
    """Hours between two tries: those that were observed, and those that will follow."""

    @model_validator(mode="after")
    def _had_is_at_most_of(self) -> Self:
        if self.had > self.of:
            raise ValueError(f"had ({self.had}) is larger than of ({self.of})")
        return self
