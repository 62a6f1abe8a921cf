"""Defines the answer of a tool: short, in a fixed form, each text one line without secrets or controls.

Tools are called one at a time, within the folder. Every failure is a sentence that says what to change.
"""

from __future__ import annotations

import functools
import gc
import itertools
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import Annotated, Concatenate, ParamSpec, Protocol, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, BeforeValidator, Field

from planner.adapters.files import check_readable, reading_only_below
from planner.adapters.user_text import secrets_noted
from planner.errors import PlannerError
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


FLAG = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
LONGEST_ERROR = 800
COLLECT_EVERY = 25
"""Number of calls after which garbage is collected. Reading prices delays Python's own collection of cycles."""
Arguments = ParamSpec("Arguments")
_one_at_a_time = Lock()
"""Lock for calls: files read and warnings are noted for the whole process."""
_calls = itertools.count(1)


class Guarded(Protocol):
    """Owner of tools, with the folders that they may read."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Return the folders from which files may be read."""


Tools = TypeVar("Tools", bound=Guarded)


def in_words_of_arguments(text: str) -> str:
    """Write an option of the command line as the argument of a tool: `--seq-len` is `seq_len`."""
    return FLAG.sub(lambda found: found[1].replace("-", "_"), text)


def guarded(
    tool: Callable[Concatenate[Tools, Arguments], ToolAnswer],
) -> Callable[Concatenate[Tools, Arguments], ToolAnswer]:
    """Return a tool that reads only in its folders and whose every error is a sentence."""

    @functools.wraps(tool)
    def call(tools: Tools, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> ToolAnswer:
        with _one_at_a_time, reading_only_below(tools.readable), secrets_noted() as secrets:
            answer = _outcome(lambda: tool(tools, *args, **kwargs))
            if next(_calls) % COLLECT_EVERY == 0:
                gc.collect()
        if isinstance(
            answer, str
        ):  # raised outside: an error that keeps the first one alive would keep a whole catalog
            raise ToolError(safe_line(answer, longest=LONGEST_ERROR))
        lines = map(safe_line, (*secrets, *answer.assumptions))
        return answer.model_copy(
            update={
                "headline": [in_words_of_arguments(sentence) for sentence in answer.headline],
                "assumptions": first_assumptions(in_words_of_arguments(warning) for warning in lines),
            }
        )

    return call


def _outcome(tool: Callable[[], ToolAnswer]) -> ToolAnswer | str:
    """Return the answer, or what is wrong in a sentence."""
    try:
        return tool()
    except PlannerError as error:
        return in_words_of_arguments(f"{error.message} {error.fix}")
    except Exception as error:  # noqa: BLE001  an unexpected error may quote what was read, so only its type is shown
        if os.environ.get("PLANNER_DEBUG"):
            traceback.print_exc(file=sys.stderr)
        return f"this is a fault of the planner ({type(error).__name__}); please report it."


def inside(name: str) -> str:
    """Return a name or path that stays in the folders. A plain name always does."""
    check_readable(Path(name))
    return name
