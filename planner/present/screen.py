"""Plain text for a screen of a given width: tables whose columns fall away before their words do, wrapped sentences."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

MOST_LINES = 30
SPACE = " "
NO_BREAK = "\u00a0"
"""A blank in a cell at which no line breaks; printed as any other."""
FEWEST_ROWS = 3
FURTHER_IN = 4
"""Columns by which the rest of a long line is further in than its beginning."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table on a screen."""

    key: str
    title: str = ""
    right: bool = False
    """Its cells end in one line below the other, as numbers do."""
    drop: int = 0
    """Where the width is too small, the column with the highest number falls away first; 0: it always stays."""
    wrap: int = 0
    """Cells may break between words, down to this many characters; 0: they never do."""
    gap: int = 2
    """Blanks before it, where it is not the first."""


def table_lines(columns: Sequence[Column], rows: Sequence[Mapping[str, str]], *, width: int) -> list[str]:
    """Return the header and the rows as lines of at most `width`, as far as the columns that always stay allow.

    A column without any cell is left out. Columns fall away in the order of their `drop`, equals from the right; the
    rest is spread over several lines where it may wrap. No word is ever cut.
    """
    shown = shown_columns(columns, rows, width)
    widths = _widths(shown, rows, width)
    header = [_line(shown, widths, [column.title for column in shown])] if any(column.title for column in shown) else []
    return [*header, *(line for row in rows for line in _row_lines(shown, widths, row))]


def shown_columns(columns: Sequence[Column], rows: Sequence[Mapping[str, str]], width: int) -> list[Column]:
    """Return the columns that have cells and for which lines of `width` have room."""
    shown = [column for column in columns if any(row.get(column.key) for row in rows)]
    while _total(shown, [_narrowest(column, rows) for column in shown]) > width and any(
        column.drop for column in shown
    ):
        _, place = max((column.drop, place) for place, column in enumerate(shown))
        del shown[place]
    return shown


def fewer_rows(lines: Callable[[int], list[str]], rows: int) -> list[str]:
    """Return `lines(shown)` with as many of the rows as 30 lines hold, and three at the least."""
    printed = lines(rows)
    for shown in range(min(rows, MOST_LINES), min(rows, FEWEST_ROWS) - 1, -1):
        if len(printed) <= MOST_LINES:
            break
        printed = lines(shown)
    return printed


def wrapped(text: str, *, width: int, indent: str = "") -> list[str]:
    """Return the text in lines of at most `width`, broken between words; all but the first are indented.

    A number and its "%" stay on one line.
    """
    joined = text.replace(" %", f"{NO_BREAK}%")
    lines = textwrap.wrap(joined, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace(f"{NO_BREAK}%", " %") for line in lines]


def wrapped_lines(lines: Sequence[str], width: int | None) -> list[str]:
    """Return lines no longer than `width`: each broken between words, the rest further in than it begins."""
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
    """Return the items in lines of at most `width`, each item whole where it is not longer than a line."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(separator) + len(item) <= width:
            lines[-1] += separator + item
        else:
            lines += wrapped(item, width=width)
    return [line.replace(NO_BREAK, SPACE) for line in lines]


def again(answer_id: str | None) -> list[str]:
    """Return how an answer is printed again, for the last line of its screen; nothing of one without an id."""
    return [] if answer_id is None else [f"Again: planner show {answer_id}"]


def command_item(label: str, command: str, *, width: int) -> str:
    """Return `label: command` for `wrapped_items`, which breaks no command that fits on a line of its own."""
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
    """Return each column's width: its longest cell, less where it wraps and the lines would be too long."""
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
