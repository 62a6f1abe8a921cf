"""Rows as CSV or TSV: every reader gets the same cells, and no spreadsheet takes a text for a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""Start of a formula for a spreadsheet, or of text that it drops before one; after apostrophes, so that none is lost.
"""
_HARMLESS = re.compile(r"[-+]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|-")
"""A number, or the dash for an unknown value."""
_BREAK = re.compile('["\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]')
"""Characters at which some reader ends a line or a cell."""


def table_text(rows: Iterable[Sequence[str]], separator: str) -> str:
    """Return rows as text. A cell that could be a formula has a leading apostrophe."""
    return "".join(f"{_line(cells, separator)}\n" for cells in rows)


def guarded(cell: str) -> str:
    """Return a cell with an apostrophe before text that a spreadsheet would compute. A number stays unchanged."""
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
