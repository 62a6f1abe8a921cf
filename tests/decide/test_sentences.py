"""Sentences are for people: no decision of the core, the pages or the commands parses one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import planner

ROOMS = ("scenario", "duration", "cost", "decide", "present", "use_cases", "ui")
READERS = {"split", "rsplit", "partition", "rpartition", "startswith", "endswith", "find", "index", "removeprefix"}


def has_words(node: ast.AST) -> bool:
    """Return whether a constant is a part of a sentence: it holds a space within or at its ends."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value


def readings(tree: ast.AST) -> Iterator[int]:
    """Yield the lines on which text is searched for words, or cut at them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn) and has_words(node.left):
            yield node.lineno
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr in READERS and any(map(has_words, node.args)):
            yield node.lineno


@pytest.mark.parametrize(
    "text", ['x = "does not fit" in why_not', 'x = why_not.split("; ")', 'x = low.partition(" ")', 'x = "a b" not in y']
)
def test_readings_are_found(text: str) -> None:
    assert list(readings(ast.parse(text))) == [1]


@pytest.mark.parametrize("room", ROOMS)
def test_no_sentence_is_read(room: str) -> None:
    files = sorted((Path(planner.__file__).parent / room).rglob("*.py"))
    assert files
    lines = [f"{path}:{line}" for path in files for line in readings(ast.parse(path.read_text("utf-8")))]
    assert lines == []
