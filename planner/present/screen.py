"""Writes tables and wrapped sentences for a screen of a given width. Tables lose columns rather than words."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

MOST_LINES = 30
SPACE = " "
NO_BREAK = "\u00a0"
"""Blank at which no line breaks. It is printed as a normal blank."""
FEWEST_ROWS = 3
FURTHER_IN = 4
"""Additional indentation of the rest of a long line, in characters."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table on a screen."""

    key: str
    title: str = ""
    right: bool = False
    """True for right-aligned cells."""
    drop: int = 0
    """Order of removal on narrow screens: the highest number first. 0 is never removed."""
    wrap: int = 0
    """Cells wrap between words down to this width; 0 for cells that never wrap."""
    gap: int = 2
    """Blanks before the column, unless it is the first."""


def table_lines(columns: Sequence[Column], rows: Sequence[Mapping[str, str]], *, width: int) -> list[str]:
    """Return the header and the rows as lines of at most `width`, if the columns that always stay allow it.

    A column without cells is left out. Columns are removed in the order of their `drop`, equal ones from the right.
    Cells that may wrap take several lines. No word is ever cut.
    """
    shown = shown_columns(columns, rows, width)
    widths = _widths(shown, rows, width)
    header = [_line(shown, widths, [column.title for column in shown])] if any(column.title for column in shown) else []
    return [*header, *(line for row in rows for line in _row_lines(shown, widths, row))]


def shown_columns(columns: Sequence[Column], rows: Sequence[Mapping[str, str]], width: int) -> list[Column]:
    """Return the columns that have cells and fit into lines of `width`."""
    shown = [column for column in columns if any(row.get(column.key) for row in rows)]
    while _total(shown, [_narrowest(column, rows) for column in shown]) > width and any(
        column.drop for column in shown
    ):
        _, place = max((column.drop, place) for place, column in enumerate(shown))
        del shown[place]
    return shown


def fewer_rows(lines: Callable[[int], list[str]], rows: int) -> list[str]:
    """Return `lines(shown)` for the most rows that fit into 30 lines, and at least three."""
    printed = lines(rows)
    for shown in range(min(rows, MOST_LINES), min(rows, FEWEST_ROWS) - 1, -1):
        if len(printed) <= MOST_LINES:
            break
        printed = lines(shown)
    return printed


def wrapped(text: str, *, width: int, indent: str = "") -> list[str]:
    """Break the text between words into lines of at most `width`. All but the first are indented.

    A number and its "%" stay on one line.
    """
    joined = text.replace(" %", f"{NO_BREAK}%")
    lines = textwrap.wrap(joined, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace(f"{NO_BREAK}%", " %") for line in lines]


def wrapped_lines(lines: Sequence[str], width: int | None) -> list[str]:
    """Break lines longer than `width` between words. The rest of a line is indented further."""
    if width is None:
        return list(lines)
    return [
        part
        for line in lines
        for part in (
            wrapped(line, width=width, indent=" " * (len(line) - len(line.lstrip()) + FURTHER_IN))
            if len(line) > width
            else [line]
        )
    ]


def wrapped_items(items: Sequence[str], *, width: int, separator: str) -> list[str]:
    """Join the items into lines of at most `width`. Only an item longer than a line is broken."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(separator) + len(item) <= width:
            lines[-1] += separator + item
        else:
            lines += wrapped(item, width=width)
    return [line.replace(NO_BREAK, SPACE) for line in lines]


def again(answer_id: str | None) -> list[str]:
    """Return the command that prints an answer again, for the last line of its screen; empty without an id."""
    return [] if answer_id is None else [f"Again: planner show {answer_id}"]


def command_item(label: str, command: str, *, width: int) -> str:
    """Return `label: command` for `wrapped_items`, unbreakable if the command fits on a line."""
    return f"{label}: {command.replace(SPACE, NO_BREAK) if len(command) <= width else command}"


def _row_lines(columns: Sequence[Column], widths: Sequence[int], row: Mapping[str, str]) -> list[str]:
    cells = [
        wrapped(row.get(column.key, ""), width=wide) if column.wrap else [row.get(column.key, "")]
        for column, wide in zip(columns, widths, strict=True)
    ]
    return [
        _line(columns, widths, [cell[line] if line < len(cell) else "" for cell in cells])
        for line in range(max(map(len, cells), default=0))
    ]


def _line(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[str]) -> str:
    padded = (
        " " * (column.gap if place else 0) + (cell.rjust(wide) if column.right else cell.ljust(wide))
        for place, (column, wide, cell) in enumerate(zip(columns, widths, cells, strict=True))
    )
    return "".join(padded).replace(NO_BREAK, " ").rstrip()


def _widths(columns: Sequence[Column], rows: Sequence[Mapping[str, str]], width: int) -> list[int]:
    """Return each column's width: its longest cell, or less if it wraps and the lines would be too long."""
    widths = [_longest(column, rows) for column in columns]
    for place, column in enumerate(columns):
        too_much = _total(columns, widths) - width
        if too_much > 0:
            widths[place] = max(_narrowest(column, rows), widths[place] - too_much)
    return widths


def _narrowest(column: Column, rows: Sequence[Mapping[str, str]]) -> int:
    longest = _longest(column, rows)
    if not column.wrap:
        return longest
    words = [len(word) for row in rows for word in row.get(column.key, "").split(SPACE)]
    return min(longest, max(column.wrap, len(column.title), *words, 0))


def _longest(column: Column, rows: Sequence[Mapping[str, str]]) -> int:
    return max(len(column.title), *(len(row.get(column.key, "")) for row in rows), 0)


def _total(columns: Sequence[Column], widths: Sequence[int]) -> int:
    return sum(widths) + sum(column.gap for column in columns[1:])
