"""Hides secrets in text that a user wrote into a plan or gave as a name, and notes a warning.

This happens where the text enters, so that nothing written from it later (reports, locks, JSON, task files) contains
them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import yaml

from planner.adapters.mapping_text import Json, parse_mapping
from planner.adapters.yaml_scalars import CoreDumper
from planner.redact import clean, clean_data

_notes: ContextVar[list[str] | None] = ContextVar("notes", default=None)
"""Places where secrets were hidden; None if no command runs. It is per thread: the app serves visits side by side."""


@contextmanager
def secrets_noted() -> Iterator[list[str]]:
    """Collect one sentence for each file and name in which a secret was hidden in this block."""
    found: list[str] = []
    before = _notes.set(found)
    try:
        yield found
    finally:
        _notes.reset(before)


def without_secrets(data: Json, *, text: str, where: str) -> Json:
    """Return the mapping that was read from a text, with every secret in its keys and values hidden."""
    if clean(text) == text and clean(where) == where:
        return data
    cleaned: Json = clean_data(data)
    places = list(dict.fromkeys(_changed(data, cleaned, "")))
    if places:
        _note_places(where, places)
    return cleaned


def text_without_secrets(text: str, *, where: str, fix: str = "", foreign: bool = False) -> str:
    """Return a document unchanged, or rewritten with every secret in it hidden. InputError if it cannot be parsed."""
    if clean(text) == text:
        return text
    data = without_secrets(parse_mapping(text, where=where, fix=fix, foreign=foreign), text=text, where=where)
    if text.lstrip().startswith("{"):
        return json.dumps(data, default=str)
    return yaml.dump(data, Dumper=CoreDumper, sort_keys=False, allow_unicode=True)


def table_without_secrets(text: str, *, where: str) -> str:
    """Return CSV text unchanged, or rewritten with every secret in its cells hidden."""
    hidden = clean(text)
    if hidden == text:
        return text
    try:
        rows = list(csv.reader(io.StringIO(text)))
    except csv.Error:  # its reader reports the error
        return hidden
    cleaned = [[clean(cell) for cell in row] for row in rows]
    changed = [
        f"line {line}, column {place}"
        for line, (row, other) in enumerate(zip(rows, cleaned, strict=True), start=1)
        for place, (cell, cell_hidden) in enumerate(zip(row, other, strict=True), start=1)
        if cell != cell_hidden
    ]
    _note_places(where, changed or ["in its rows"])
    if not changed:  # it is a secret only together with the cells around it
        return hidden
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(cleaned)
    return written.getvalue()


def name_without_secrets(name: str) -> str:
    """Return the name of a file or folder with every secret hidden, without brackets so that it stays a valid name."""
    cleaned = clean(name)
    if cleaned == name:
        return name
    note_secret("The name of a file or folder holds a secret, which is hidden in all that is written. Rename it.")
    return cleaned.replace("[hidden]", "hidden")


def _note_places(where: str, places: Sequence[str]) -> None:
    shown = ", ".join(places[:3]) + (" and more" if len(places) > 3 else "")
    note_secret(f"{where}: holds a secret ({shown}), which is hidden in all that is written. Take it out of the file.")


def note_secret(sentence: str) -> None:
    """Note a sentence for the collector. A sentence that was noted before is not repeated."""
    found = _notes.get()
    if found is not None and sentence not in found:
        found.append(sentence)


def _changed(data: Any, cleaned: Any, place: str) -> Iterator[str]:
    """Yield the keys under which a text was changed."""
    if isinstance(data, dict):
        for (key, value), (hidden, other) in zip(data.items(), _items(data, cleaned), strict=False):
            inner = f"{place}.{hidden}" if place else str(hidden)
            if key != hidden:
                yield f"the key {inner}"
            yield from _changed(value, other, inner)
    elif isinstance(data, list):
        for number, (value, other) in enumerate(zip(data, cleaned, strict=False)):
            yield from _changed(value, other, f"{place}.{number}")
    elif data != cleaned:
        yield place


def _items(data: dict[Any, Any], cleaned: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    for key in data:
        hidden = clean(key) if isinstance(key, str) else key
        yield hidden, cleaned.get(hidden)
