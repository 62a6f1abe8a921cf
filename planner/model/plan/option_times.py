"""When an option's machines can be used: a window of a block, and turns of others."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AwareDatetime, Field, model_validator

from planner.model.base import Count, Frozen

MOST_TURNS = 200


class Window(Frozen):
    """From when to when machines are rented, and paid for, used or not; times carry their zone."""

    start: AwareDatetime
    end: AwareDatetime

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"end {self.end.isoformat()} is not after start {self.start.isoformat()}")
        return self


class Turn(Window):
    """A time in which others have some of the nodes: their jobs, or serving."""

    nodes: Count


Turns = Annotated[tuple[Turn, ...], Field(max_length=MOST_TURNS)]
