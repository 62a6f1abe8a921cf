"""Typed reads of a trainer's configuration, under the first of several names with a value other than "auto"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.numbers_in_text import count, positive

TRUE = ("true", "yes", "1", "on")
FALSE = ("false", "no", "0", "off")
SILENT = ("", "auto", "none", "null")


class Keys:
    """Keys of a mapping. A dot steps into a nested mapping."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    def value(self, *names: str) -> Any:
        """Return the value under the first name that has one; None if none has."""
        for name in names:
            found: Any = self.data
            for part in name.split("."):
                found = found.get(part) if isinstance(found, Mapping) else None
            if found is not None and str(found).casefold() not in SILENT:
                return found
        return None

    def count(self, *names: str) -> int | None:
        """Return a whole number above 0."""
        found = self.value(*names)
        return None if isinstance(found, bool) else count(found)

    def number(self, *names: str) -> float | None:
        """Return a number above 0."""
        return positive(self.value(*names))

    def flag(self, *names: str) -> bool | None:
        """Return true or false."""
        text = str(self.value(*names)).casefold()
        return True if text in TRUE else False if text in FALSE else None

    def text(self, *names: str) -> str | None:
        """Return a text."""
        found = self.value(*names)
        return found.strip() if isinstance(found, str) else None

    def words(self, *names: str) -> tuple[str, ...] | None:
        """Return a list of texts, also from a text separated by commas or spaces."""
        found = self.value(*names)
        if isinstance(found, str):
            found = found.replace(",", " ").split()
        return tuple(str(part) for part in found) or None if isinstance(found, list) else None
