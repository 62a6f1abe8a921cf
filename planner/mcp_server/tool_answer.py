"""Answer of a tool: short, in a fixed form, with foreign text on one line and without secrets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from planner.present.table import Row
from planner.redact import clean
from planner.text.visible_text import visible_text

MOST_ROWS = 8
MOST_ASSUMPTIONS = 12
LONGEST_TEXT = 400
LONGEST_CELL = 160


def shown(text: str, *, longest: int = LONGEST_TEXT) -> str:
    """Return a text as one bounded line that cannot control a terminal, begin a new line or contain a secret."""
    line = " ".join(visible_text(clean(text)).split())
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def _cells(row: Row) -> Row:
    return {name: shown(cell, longest=LONGEST_CELL) for name, cell in row.items() if cell}


Line = Annotated[str, BeforeValidator(shown)]


class ToolAnswer(BaseModel):
    """A headline, at most eight rows, the assumptions, and how to learn more."""

    headline: Annotated[list[Line], Field(description="The answer in at most three sentences; quote ranges with it.")]
    rows: Annotated[
        list[Annotated[Row, BeforeValidator(_cells)]],
        Field(max_length=MOST_ROWS, description="The table, best first; in brackets the 90 % range."),
    ] = []
    rows_left_out: Annotated[int, Field(ge=0, description="Rows of the table that are not shown.")] = 0
    assumptions: Annotated[list[Line], Field(description="What was assumed, with the argument that changes it.")] = []
    answer_id: Annotated[str | None, Field(description="For the tool explain, and for: planner show ID.")] = None
    next: Annotated[list[Line], Field(description="Calls that go on from here.")] = []


def table_of(rows: Sequence[Row], *, first: int = 1) -> tuple[list[Row], int]:
    """Return at most eight rows, from the row `first` on, and the number of rows after them."""
    kept = list(rows[first - 1 : first - 1 + MOST_ROWS])
    return kept, max(0, len(rows) - (first - 1) - len(kept))


def few(texts: Iterable[str]) -> list[str]:
    """Return the first assumptions without repetition, and the number of others."""
    unique = list(dict.fromkeys(texts))
    more = len(unique) - MOST_ASSUMPTIONS
    return unique if more <= 0 else [*unique[:MOST_ASSUMPTIONS], f"and {more} more"]
