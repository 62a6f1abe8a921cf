"""When an option's machines can be used: a window of a block, turns of others, what one waits for first."""

from __future__ import annotations

from datetime import UTC
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from planner.model.base import Count, Frozen, Moment, not_tiny

MOST_TURNS = 200


class RentalWindow(Frozen):
    """From when to when machines are rented, and paid for, used or not; times carry their zone."""

    start: Moment
    """When it begins, with its time zone."""
    end: Moment
    """When it ends, with its time zone."""

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"end {self.end.isoformat()} is not after start {self.start.isoformat()}")
        return self

    @property
    def hours(self) -> float:
        """Return its length."""
        return (self.end.astimezone(UTC) - self.start.astimezone(UTC)).total_seconds() / 3600


class Turn(RentalWindow):
    """A time in which others have some of the nodes: their jobs, or serving."""

    nodes: Count
    """Nodes that others have in this time."""


Turns = Annotated[tuple[Turn, ...], Field(max_length=MOST_TURNS)]


JobHours = Annotated[float, Field(strict=True, gt=0, le=10_000), AfterValidator(not_tiny)]
Machines = Annotated[int, Field(strict=True, ge=1, le=10_000)]


class Queue(Frozen):
    """Others' jobs, behind which the first run waits: those ahead of it now, or how busy they keep the machines."""

    jobs: Annotated[int, Field(strict=True, ge=0, le=10_000)] | None = None
    """Ahead, those that run included; they take `job_hours` on average."""
    busy: Annotated[float, Field(strict=True, ge=0, le=0.99)] | None = None
    """Share of the machines' time that jobs take which come at random."""
    job_hours: JobHours
    """Mean hours of a job."""
    machines: Machines = 1
    """That the queue is served by: one takes jobs of one length (M/D/1), of several their lengths vary (M/M/c)."""

    @model_validator(mode="after")
    def _one_way_to_say_how_long(self) -> Self:
        if (self.jobs is None) == (self.busy is None):
            raise ValueError("needs one of jobs (ahead now) and busy (share of the time)")
        return self


class Tries(Frozen):
    """How often machines were there when somebody looked: observed availability."""

    had: Machines
    """Times that machines were there."""
    of: Machines
    """Times that somebody looked."""
    every_hours: JobHours
    """Between two looks, and between two tries."""

    @model_validator(mode="after")
    def _no_more_than_all(self) -> Self:
        if self.had > self.of:
            raise ValueError(f"had {self.had} is more than of {self.of}")
        return self
