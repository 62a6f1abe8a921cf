r"""A text as it was written and as it reads without colour and escapes, with the way back to the written positions.

A token is the same token in `"\u0067hp_..."`, in JSON inside JSON and between colour codes. The rules look at plain
text only; a view finds where the characters of a match stand in the original.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

DEEPEST = 3
"""Levels of escaping that are undone: JSON inside JSON inside JSON."""
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]{0,40}[ -/]{0,10}[@-~]|\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)|[@-Z^-_])"  # colour, cursor, title
    r"|\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(033|e(?=\[))|([\"'\\/`nrtbf0]))"
)
_NAMED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "0": "\0"}


@dataclass(frozen=True)
class View:
    """A text, its lower case of equal length, and where its characters stand in the original."""

    text: str
    lower: str
    _starts: list[int] = field(default_factory=list)
    """Positions in the text from which on a character stands elsewhere than the one before."""
    _origins: list[tuple[int, int]] = field(default_factory=list)
    """Position in the parent of each start, and the number of characters that each character was written with."""
    _parent: View | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return where the characters from `start` up to `end` stand in the original text."""
        if self._parent is None:
            return start, end
        first, _ = self._place(start)
        last, width = self._place(end - 1)
        return self._parent.original(first, last + width)

    def begins_word(self, position: int) -> bool:
        """Return whether no letter or digit stands directly before the position; a colour code separates words."""
        if position == 0 or not (self.text[position - 1].isascii() and self.text[position - 1].isalnum()):
            return True
        if self._parent is None:
            return False
        before, width = self._place(position - 1)
        return before + width != self._place(position)[0]

    def _place(self, position: int) -> tuple[int, int]:
        piece = bisect_right(self._starts, position) - 1
        origin, width = self._origins[piece]
        return origin + (position - self._starts[piece]), width


def views(text: str) -> Iterator[View]:
    """Yield the text as it is written, then with one level of escaping after the other undone."""
    view = View(text, lower_case(text))
    yield view
    for _ in range(DEEPEST):
        if "\\" not in view.text and "\x1b" not in view.text:
            return
        if "\x1b" in view.text and (apart := _without_escapes(view, between=" ")):
            yield apart  # a colour may part two words, or stand inside one
        plainer = _without_escapes(view, between="")
        if plainer is None:
            return
        view = plainer
        yield view


def lower_case(text: str) -> str:
    """Return the text in lower case, with every character at its place: only the dotted capital I becomes two."""
    return text.replace("\u0130", "I").lower()


def _without_escapes(parent: View, *, between: str) -> View | None:
    parts: list[str] = []
    starts: list[int] = []
    origins: list[tuple[int, int]] = []
    length = last = 0
    for found in _CONTROL.finditer(parent.text):
        plain = _plain(found) or between
        if found.start() > last:
            parts.append(parent.text[last : found.start()])
            starts.append(length)
            origins.append((last, 1))
            length += found.start() - last
        if plain:
            parts.append(plain)
            starts.append(length)
            origins.append((found.start(), found.end() - found.start()))
            length += 1
        last = found.end()
    if last == 0:
        return None
    if last < len(parent.text):
        parts.append(parent.text[last:])
        starts.append(length)
        origins.append((last, 1))
    plain_text = "".join(parts)
    return View(plain_text, lower_case(plain_text), starts, origins, parent) if plain_text else None


def _plain(found: re.Match[str]) -> str:
    code, byte, escape, letter = found.groups()
    if code or byte:
        return chr(int(code or byte, 16))
    if escape:
        return "\x1b"
    return _NAMED.get(letter, letter) if letter else ""
