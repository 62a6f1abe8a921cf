"""Output options of a command: a screen for people, or a format for programs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from planner.cli.visible_output import Drawn
from planner.errors import InputError
from planner.model.base import MOST_COUNT
from planner.present.table import WRITERS, Row
from planner.text.visible_text import visible_text


class Format(StrEnum):
    """Output formats of a table."""

    TABLE = "table"
    TSV = "tsv"
    CSV = "csv"
    MD = "md"
    JSON = "json"


SCREEN_COLUMNS = 100
"""Width of a screen that goes to a pipe, a file or a log, unless COLUMNS is set."""

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document")]
FormatOption = Annotated[Format, typer.Option("--format", show_default=False, help="Output format; default: table")]
AllFlag = Annotated[bool, typer.Option("--all", help="Show all rows of the table, not as many as a screen holds")]
DetailsFlag = Annotated[bool, typer.Option("--details", help="Show sources, notes and assumptions too")]
HomeOption = Annotated[
    str | None, typer.Option("--home", metavar="FOLDER", help="Workspace; default: $PLANNER_HOME or ./planner-data")
]


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options of a command that prints a table or one JSON document."""

    as_json: JsonFlag = False
    form: FormatOption = Format.TABLE

    @property
    def json(self) -> bool:
        """True if the JSON document is wanted, by either option."""
        return self.as_json or self.form is Format.JSON

    @property
    def table(self) -> bool:
        """True if a screen for people is printed. The other formats have room for sources and notes."""
        return not self.json and self.form is Format.TABLE

    def print_rows(self, rows: Sequence[Row], *, title: str) -> None:
        """Print rows as a table for people or in the wanted format."""
        if self.table:
            _print_terminal_table(rows, title)
        else:
            sys.stdout.write(WRITERS[self.form.value](rows))


@dataclass(frozen=True, kw_only=True)
class LongTableOptions(TableOptions):
    """Options of a command whose table may be longer than a screen."""

    all: AllFlag = False


@dataclass(frozen=True, kw_only=True)
class ScreenOptions(LongTableOptions):
    """Options of a command that prints its sources on request."""

    details: DetailsFlag = False


def print_lines(lines: Iterable[str]) -> None:
    """Print a screen."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def screen_width() -> int:
    """Return the columns of a screen: COLUMNS, otherwise the terminal's, otherwise 100."""
    return shutil.get_terminal_size((SCREEN_COLUMNS, 24)).columns


def check_positive(value: float | None, name: str, *, most: float = MOST_COUNT) -> None:
    """Refuse counts below one, above the limit, or that are no numbers. typer does not check this."""
    if value is None:
        return
    if not value >= 1:
        raise InputError(f"{name} is {value}; it must be 1 or more.", fix=f"Write {name} 1 or more, or leave it out.")
    if value > most:
        raise InputError(f"{name} is over {most:,.0f}, which is the most that it may be.", fix="Check its zeros.")


def _column_widths(rows: Sequence[Row], width: int) -> dict[str, int]:
    """Return each column's width: whole cells if they fit, otherwise whole words, otherwise the widest are broken.

    The first column, which people copy, is the last to be broken.
    """
    from rich.cells import cell_len

    texts = {column: [column, *(visible_text(row[column]) for row in rows)] for column in rows[0]} if rows else {}
    whole = {column: max(map(cell_len, cells)) for column, cells in texts.items()}
    widths = {column: max(cell_len(word) for text in cells for word in text.split()) for column, cells in texts.items()}
    first, room = next(iter(texts), ""), width - (3 * len(texts) - 1) - sum(widths.values())
    while room < 0 and max(widths.values()) > 1:
        widest = max(widths, key=lambda column: (widths[column], column != first))
        widths[widest], room = widths[widest] - 1, room + 1
    wanting = sorted(texts, key=lambda column: (column != first, whole[column] - widths[column]))
    for place, column in enumerate(wanting):
        share = room if place == 0 else room // (len(wanting) - place)
        more = max(0, min(whole[column] - widths[column], share))
        widths[column], room = widths[column] + more, room - more
    return widths


def _print_terminal_table(rows: Sequence[Row], title: str) -> None:
    """Draw a table as wide as its content. Nothing is cut; a narrow screen wraps cells. Colours need a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=visible_text(title), box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    terminal = sys.stdout.isatty()
    width = screen_width()
    for column, its_width in _column_widths(rows, width).items():
        table.add_column(column, overflow="fold", width=its_width)
    for row in rows:
        table.add_row(*map(visible_text, row.values()))
    console = Console(width=None if terminal else width, force_terminal=terminal)
    with console.capture() as drawn:
        console.print(table, markup=False)
    sys.stdout.write(Drawn("".join(f"{line.rstrip()}\n" for line in drawn.get().splitlines())))
