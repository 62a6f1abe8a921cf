"""Finds secrets in text by their form, their context and this machine's own values, and hides them.

A line or block of base64 is hidden completely if the decoded text contains a secret. A private key is hidden between
BEGIN and END, also with one end cut off.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from typing import Any

from planner.redact.contexts import secrets_in_context
from planner.redact.named_values import named_values
from planner.redact.own_secrets import own_secrets
from planner.redact.token_forms import named_tokens, tokens
from planner.redact.views import View, views

HIDDEN = "[hidden]"


def clean(text: str) -> str:
    """Return the text with HIDDEN instead of every secret; the same object if there is none."""
    parts: list[str] = []
    last = 0
    for start, end in _merged(_spans(text, DEEPEST)):
        parts += (text[last:start], HIDDEN)
        last = end
    return "".join((*parts, text[last:])) if parts else text


def has_secret(text: str) -> bool:
    """Return whether anything in the text would be hidden."""
    return clean(text) != text


def clean_data(value: Any) -> Any:
    """Return plain data (JSON) with every text in it cleaned, including keys."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key) if isinstance(key, str) else key: clean_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(clean_data(item) for item in value)
    return value


def _spans(text: str, depth: int) -> Iterator[tuple[int, int]]:
    """Yield the positions of secrets. Spans may overlap."""
    for view in views(text):
        for start, end in _spans_of_view(view, depth):
            if view.text[start:end] != HIDDEN:
                yield view.original(start, end)


def _spans_of_view(view: View, depth: int) -> Iterator[tuple[int, int]]:
    for value in own_secrets():
        at = view.text.find(value)
        while at >= 0:
            yield at, at + len(value)
            at = view.text.find(value, at + len(value))
    yield from private_keys(view)
    yield from tokens(view)
    yield from named_tokens(view)
    yield from named_values(view)
    yield from secrets_in_context(view)
    if depth:
        yield from base64_runs(view, lambda inner: any(True for _ in _spans(inner, depth - 1)))


def _merged(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans in order, with overlapping ones merged."""
    start = end = -1
    for first, last in sorted(spans):
        if last <= first:
            continue
        if first > end or end < 0:
            if end > start:
                yield start, end
            start, end = first, last
        else:
            end = max(end, last)
    if end > start:
        yield start, end


DEEPEST = 2
"""Nesting depth of base64 inside base64."""
_RUN = re.compile(
    r"(?:[A-Za-z0-9+/_-]{60,76}\r?\n[ \t]{0,40}){1,2000}[A-Za-z0-9+/_-]{1,76}(?![A-Za-z0-9+/_-])={0,2}"  # wrapped
    r"|[A-Za-z0-9+/_-]{16,}={0,2}"
)
_BREAK = re.compile(r"\s+")
_SAMPLE = 16
"""Characters that tell whether a run decodes to text at all."""
_TEXT = frozenset(b"\t\n\r") | frozenset(range(0x20, 0x7F))


def base64_runs(view: View, has_secret: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Yield the runs of base64 whose text contains a secret."""
    for found in _RUN.finditer(view.text):
        run = found[0]
        if not _is_text(_decoded(run[:_SAMPLE])):
            continue
        data = _decoded(_BREAK.sub("", run))
        if has_secret(data.decode("utf-8", errors="replace")):
            yield found.span()


def _decoded(run: str) -> bytes:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    body = body[:-1] if len(body) % 4 == 1 else body
    return base64.b64decode(body + "=" * (-len(body) % 4))


def _is_text(data: bytes) -> bool:
    return bool(data) and all(byte in _TEXT for byte in data)


_LABEL = r"[A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}"
_BEGINS = re.compile(rf"-----BEGIN{_LABEL}-----", re.IGNORECASE)
_ENDS = re.compile(rf"-----END{_LABEL}-----", re.IGNORECASE)
_BEGIN_CUT_OFF = re.compile(r"(?<!PUBLIC )KEY-----\s{1,3}(?=[A-Za-z0-9+/=]{40})", re.IGNORECASE)
_BODY = re.compile(
    r"\s{0,9}(?:(?:Proc-Type|DEK-Info|Comment|Version|Hash): ?[^\n]{0,200}\s{1,9}){0,5}[A-Za-z0-9+/=\s\\]{0,20000}"
)
_PUTTY = re.compile(r"private-lines: ?\d{1,4}\s{1,3}[A-Za-z0-9+/=\s]{1,20000}", re.IGNORECASE)
LONGEST_BLOCK = 20_000
"""Largest number of characters of a block."""
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
