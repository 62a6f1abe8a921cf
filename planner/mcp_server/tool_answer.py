"""Defines the answer of a tool: short, in a fixed form, each text one line without secrets or controls."""

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


def safe_line(text: str, *, longest: int = LONGEST_TEXT) -> str:
    """Return a text as one bounded line that cannot control a terminal, begin a new line or contain a secret."""
    line = " ".join(visible_text(clean(text)).split())
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def _cells(row: Row) -> Row:
    return {name: safe_line(cell, longest=LONGEST_CELL) for name, cell in row.items() if cell}


Line = Annotated[str, BeforeValidator(safe_line)]


class ToolAnswer(BaseModel):
    """Answer of a tool: a headline, at most `MOST_ROWS` rows, the assumptions, and the calls that tell more."""

    headline: Annotated[
        list[Line], Field(description="The answer in at most three sentences. Quote its numbers with their ranges.")
    ]
    rows: Annotated[
        list[Annotated[Row, BeforeValidator(_cells)]],
        Field(max_length=MOST_ROWS, description="The table, best first. Brackets hold the 90 % range."),
    ] = []
    rows_left_out: Annotated[int, Field(ge=0, description="Rows of the table that are not shown.")] = 0
    assumptions: Annotated[list[Line], Field(description="What was assumed, with the argument that changes it.")] = []
    answer_id: Annotated[
        str | None, Field(description="Id of this answer, for the tool explain and the command planner show ID.")
    ] = None
    next: Annotated[list[Line], Field(description="Calls that tell more.")] = []


def table_of(rows: Sequence[Row], *, first: int = 1) -> tuple[list[Row], int]:
    """Return at most `MOST_ROWS` rows, beginning with row number `first`, and the number of rows after them."""
    shown = list(rows[first - 1 : first - 1 + MOST_ROWS])
    return shown, max(0, len(rows) - (first - 1) - len(shown))


def first_assumptions(texts: Iterable[str]) -> list[str]:
    """Return the first `MOST_ASSUMPTIONS` different texts, and a last one with the number of those left out."""
    unique = list(dict.fromkeys(texts))
    more = len(unique) - MOST_ASSUMPTIONS
    return unique if more <= 0 else [*unique[:MOST_ASSUMPTIONS], f"and {more} more"]
