"""Makes others' text safe to show: control characters are escaped, and no cell of a sheet is read as a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but newline and tab
    r"\u115f\u1160\u3164\uffa0"  # fillers of Hangul, which are drawn as nothing
    r"\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # of no width; direction
    r"\ud800-\udfff"  # half a character: a byte of a file name that is no UTF-8
    r"\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def visible_text(text: str) -> str:
    r"""Return the text with `\x1b` instead of an escape, `\u202e` instead of a change of direction, and so on.

    All but the first 32 are written as in JSON strings, so that a JSON document stays valid.
    r
    """
    return _UNSEEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return "\\r" if code == 0x0D else f"\\x{code:02x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    pair = found[0].encode("utf-16-be").hex()
    return f"\\u{pair[:4]}\\u{pair[4:]}"


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
