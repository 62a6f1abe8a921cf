"""How commands print: data on stdout, talk on stderr; a table on a terminal, TSV in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from planner.errors import InputError, PlannerError
from planner.model.base import Frozen
from planner.present.table import NOTES, WRITERS, Row


class Format(StrEnum):
    """What a table is printed as."""

    TABLE = "table"
    TSV = "tsv"
    CSV = "csv"
    MD = "md"
    JSON = "json"


WIDE_COLUMNS = 180
"""Of a table that goes to a file or a log."""

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
FormatOption = Annotated[
    Format | None, typer.Option("--format", help="Default: a table on a terminal, TSV in a pipe.", show_default=False)
]
HomeOption = Annotated[
    str | None,
    typer.Option(
        "--home", metavar="FOLDER", help="Workspace; default $PLANNER_HOME or ./planner-data.", show_default=False
    ),
]


def wants_json(arguments: Sequence[str]) -> bool:
    """Say whether the caller asked for JSON, also where the arguments were too wrong to parse."""
    pairs = zip(arguments, [*arguments, ""][1:], strict=True)
    return any(one in ("--json", "--format=json") or (one == "--format" and two == "json") for one, two in pairs)


def print_document(document: Frozen) -> None:
    """Print a model as JSON."""
    print(_as_json(document.model_dump(mode="json")))


def error_document(error: PlannerError) -> str:
    """Return an error as JSON."""
    return _as_json(error.document())


def _as_json(data: object) -> str:
    """Return JSON that stdout can carry: escapes stand for Korean where its encoding has no Korean."""
    return json.dumps(data, indent=1, ensure_ascii=(sys.stdout.encoding or "").lower().replace("-", "") != "utf8")


def print_rows(rows: Sequence[Row], wanted: Format | None, *, title: str) -> None:
    """Print rows in the wanted format."""
    kind = wanted or (Format.TABLE if sys.stdout.isatty() else Format.TSV)
    if kind is Format.TABLE:
        _print_terminal_table(rows, title)
    else:
        sys.stdout.write(WRITERS[kind.value](rows))


def say(text: str) -> None:
    """Talk to the person, on stderr."""
    print(text, file=sys.stderr)


def check_positive(value: int | None, name: str) -> None:
    """Refuse a count below one; typer does not."""
    if value is not None and value < 1:
        raise InputError(f"{name} is {value}; it must be 1 or more.")


def _print_terminal_table(rows: Sequence[Row], title: str) -> None:
    """Draw a table as wide as its content: nothing is cut, a narrow terminal wraps cells."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    columns = [column for column in (rows[0] if rows else ()) if column != NOTES]
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(row[column] for column in columns))
    Console(width=None if sys.stdout.isatty() else WIDE_COLUMNS).print(table, markup=False)
    for row in rows:
        if row.get(NOTES):
            print(f"{row['option']}: {row[NOTES]}")
