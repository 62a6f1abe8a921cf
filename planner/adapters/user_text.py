"""Text that a user wrote into a plan or gave as a name: secrets in it are hidden where it enters, and a warning noted.

Whatever is written from it later (reports, locks, JSON, task files) so never holds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from planner.adapters.mapping_text import Json
from planner.redact import clean, clean_data

_notes: list[str] | None = None
"""Places where secrets were hidden; None where no command runs."""


@contextmanager
def secrets_noted() -> Iterator[list[str]]:
    """Collect one sentence for each file and name in which a secret was hidden in this block."""
    global _notes  # noqa: PLW0603  of the process, as the files that were read
    before, _notes = _notes, []
    try:
        yield _notes
    finally:
        _notes = before


def without_secrets(data: Json, *, text: str, where: str) -> Json:
    """Return the mapping that was read from a text with every secret in its keys and values hidden."""
    if clean(text) == text and clean(where) == where:
        return data
    cleaned: Json = clean_data(data)
    places = list(dict.fromkeys(_changed(data, cleaned, "")))
    if places:
        shown = ", ".join(places[:3]) + (" and more" if len(places) > 3 else "")
        _note(f"{where}: holds a secret ({shown}), which is hidden in all that is written. Take it out of the file.")
    return cleaned


def name_without_secrets(name: str) -> str:
    """Return the name of a file or folder with every secret in it hidden; without brackets, so that it stays a name."""
    cleaned = clean(name)
    if cleaned == name:
        return name
    _note("The name of a file or folder holds a secret, which is hidden in all that is written. Rename it.")
    return cleaned.replace("[hidden]", "hidden")


def _note(sentence: str) -> None:
    if _notes is not None and sentence not in _notes:
        _notes.append(sentence)


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
