"""Finds secrets in text by their form, their context and this machine's own values, and hides them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner.redact.base64_text import DEEPEST, base64_runs
from planner.redact.contexts import secrets_in_context
from planner.redact.named_values import named_values
from planner.redact.own_secrets import own_secrets
from planner.redact.private_keys import private_keys
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
