"""Escapes text inside Markdown, so that it is read literally and never as markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planner.text.visible_text import visible_text

_MARKUP = re.compile(
    r"[\\`*\[\]<>#|]"
    r"|~(?=~)|(?<=~)~"  # struck out
    r"|(?<![^\W_])_|_(?![^\W_])"  # emphasis; inside a word it is none
    r"|&(?=#?\w+;)"
)
_STARTS_A_BLOCK = re.compile(r"[-+](?=[-\s]|$)|\d{1,9}(?=[.)](?:\s|$))")


def inline(text: str) -> str:
    """Return text on one line without active markup, for a cell or after the planner's own words."""
    return _MARKUP.sub(r"\\\g<0>", visible_text(" ".join(text.split())))


def line(text: str) -> str:
    """Return text safe at the start of a paragraph or list item, where a dash or `1.` would begin a list."""
    found = _STARTS_A_BLOCK.match(text := inline(text))
    if found is None:
        return text
    mark = found.end() if text[0].isdigit() else 0
    return f"{text[:mark]}\\{text[mark:]}"


def table(rows: Sequence[dict[str, str]]) -> str:
    """Return a Markdown table. The column names are ours; the cells may be foreign."""
    if not rows:
        return ""
    head = list(rows[0])
    lines = [_row(head), _row(["---"] * len(head))]
    lines += [_row([inline(row[column]) for column in head]) for row in rows]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
