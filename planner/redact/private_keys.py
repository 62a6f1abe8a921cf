"""Private keys: blocks between BEGIN and END, and blocks with one end cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planner.redact.views import View

_LABEL = r"[A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}"
_BEGINS = re.compile(rf"-----BEGIN{_LABEL}-----", re.IGNORECASE)
_ENDS = re.compile(rf"-----END{_LABEL}-----", re.IGNORECASE)
_BEGIN_CUT_OFF = re.compile(r"(?<!PUBLIC )KEY-----\s{1,3}(?=[A-Za-z0-9+/=]{40})", re.IGNORECASE)
_BODY = re.compile(
    r"\s{0,9}(?:(?:Proc-Type|DEK-Info|Comment|Version|Hash): ?[^\n]{0,200}\s{1,9}){0,5}[A-Za-z0-9+/=\s\\]{0,20000}"
)
_PUTTY = re.compile(r"private-lines: ?\d{1,4}\s{1,3}[A-Za-z0-9+/=\s]{1,20000}", re.IGNORECASE)
LONGEST_BLOCK = 20_000
"""Most characters of a block."""
MOST_LINES = 200
FULL_LINE = 40
"""Characters of base64 in every line of a key but the last."""
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


def private_keys(view: View) -> Iterator[tuple[int, int]]:
    """Yield the positions of private keys in a text."""
    if "private-lines:" in view.lower:
        for found in _PUTTY.finditer(view.text):
            yield found.span()
    if "key" not in view.lower or "-----" not in view.text:
        return
    after = 0
    for found in _BEGINS.finditer(view.text):
        if found.start() < after:
            continue
        end = _ENDS.search(view.text, found.end(), found.end() + LONGEST_BLOCK)
        other = _BEGINS.search(view.text, found.end(), end.start() if end else found.end())
        after = end.end() if end is not None and other is None else _end_of_body(view.text, found.end())
        yield found.start(), after
    for found in _BEGIN_CUT_OFF.finditer(view.text):
        yield found.start(), _end_of_body(view.text, found.end())
    for found in _ENDS.finditer(view.text):
        yield from _before(view.text, found.start(), found.end())


def _end_of_body(text: str, start: int) -> int:
    body = _BODY.match(text, start)
    return start + len(body[0].rstrip()) if body else start


def _before(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield an END and the base64 at the end of each line above it, if the BEGIN is cut off."""
    yield start, end
    at = start
    for line in range(MOST_LINES):
        last = at
        while last and text[last - 1] in " \t\r\n":
            last -= 1
        first = last
        while first and text[first - 1] in _BASE64 and start - first < LONGEST_BLOCK:
            first -= 1
        if line == 0 and last == first:  # a log's prefix is before the END too
            at = text.rfind("\n", max(0, start - 200), start)
            if at < 0:
                return
            continue
        if last - first < (FULL_LINE if line > 1 else 1):
            return
        yield first, last
        at = text.rfind("\n", max(0, first - 200), first)  # skip the prefix that a log writes before every line
        if at < 0:
            return
