"""Rows as CSV or TSV: every reader gets the same cells, and no spreadsheet takes a text for a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""What a spreadsheet begins a formula with, or leaves out before one; after apostrophes, so that none is lost."""
_HARMLESS = re.compile(r"[-+]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|-")
"""A number, or the dash that stands where nothing is known."""
_BREAK = re.compile('["\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]')
"""Where one reader or another ends a line or a cell."""


def table_text(rows: Iterable[Sequence[str]], separator: str) -> str:
    """Return rows as text; a cell that could be a formula has a leading apostrophe."""
    return "".join(f"{_line(cells, separator)}\n" for cells in rows)


def guarded(cell: str) -> str:
    """Return a cell with an apostrophe before what a spreadsheet would compute; a number stays one."""
    return f"'{cell}" if _FORMULA.match(cell) and not _HARMLESS.fullmatch(cell) else cell


def unguarded(cell: str) -> str:
    """Return a cell as it was before `guarded`."""
    return cell[1:] if cell.startswith("'") and guarded(cell[1:]) == cell else cell


def _line(cells: Sequence[str], separator: str) -> str:
    written = [guarded(cell) for cell in cells]
    line = separator.join(written)
    if line and line.count(separator) == len(written) - 1 and not _BREAK.search(line):
        return line
    if len(written) == 1 and not line:
        return '""'  # an empty line would be no row
    return separator.join(_quoted(cell, separator) for cell in written)


def _quoted(cell: str, separator: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if separator in cell or _BREAK.search(cell) else cell
