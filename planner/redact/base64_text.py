"""Base64 in text: a line or block is hidden completely if the decoded text contains a secret."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator

from planner.redact.views import View

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
