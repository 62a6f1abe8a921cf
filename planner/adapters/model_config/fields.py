"""Reads the keys of a Hugging Face config.json one by one. A wrong value names file, key and value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from planner.errors import InputError

LARGEST = 10**9
"""Largest size in a configuration. The largest vocabularies and layers are a thousandth of it."""
FIX = "Take the config.json as its model's repository has it."


class ConfigFields:
    """Typed reads of one configuration. A null key counts as left out."""

    def __init__(self, data: Mapping[str, Any], *, where: str) -> None:
        self._data = data
        self.where = where

    def has(self, name: str) -> bool:
        """Return whether the key is present and not null."""
        return self._data.get(name) is not None

    def count(self, *names: str, default: int | None = None, most: int = LARGEST) -> int:
        """Return a whole number from 1 to `most`, under the first of the names that is present."""
        for name in names:
            if self.has(name):
                return self._whole(name, self._data[name], least=1, most=most)
        if default is None:
            raise InputError(f"{self.where}: {names[0]}: is missing.", fix=FIX)
        return default

    def number_of(self, name: str, *, default: int = 0) -> int:
        """Return a whole number of 0 or more."""
        return self._whole(name, self._data[name], least=0) if self.has(name) else default

    def number(self, *names: str, default: float) -> float:
        """Return a finite number above 0, under the first of the names that is present."""
        for name in names:
            if self.has(name):
                value = self._data[name]
                if not _is_number(value) or not math.isfinite(value) or value <= 0:
                    raise self._wrong(name, value, "a finite number above 0")
                return float(value)
        return default

    def flag(self, *names: str, default: bool) -> bool:
        """Return true or false, under the first of the names that is present."""
        for name in names:
            if self.has(name):
                value = self._data[name]
                if not isinstance(value, bool):
                    raise self._wrong(name, value, "true or false")
                return value
        return default

    def word(self, *names: str, default: str = "") -> str:
        """Return a text, under the first of the names that is present."""
        for name in names:
            if self.has(name):
                value = self._data[name]
                if not isinstance(value, str):
                    raise self._wrong(name, value, "a text")
                return value
        return default

    def words(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; empty if it is left out."""
        value = self._data[name] if self.has(name) else []
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self._wrong(name, value, "a list of texts")
        return tuple(value)

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return a list of whole numbers of 0 or more; empty if it is left out."""
        value = self._data[name] if self.has(name) else []
        if not isinstance(value, list):
            raise self._wrong(name, value, "a list of whole numbers")
        return tuple(self._whole(name, number, least=0) for number in value)

    def entries(self, name: str) -> int:
        """Return the number of entries of a mapping; 0 if it is left out."""
        value = self._data[name] if self.has(name) else {}
        if not isinstance(value, dict):
            raise self._wrong(name, value, "a mapping")
        return len(value)

    def _whole(self, name: str, value: Any, *, least: int, most: int = LARGEST) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self._wrong(name, value, f"a whole number from {least} to {most:,}")
        return value

    def _wrong(self, name: str, value: Any, wanted: str) -> InputError:
        kind = "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else ""
        shown = kind or (f"a number of {len(str(value))} digits" if _is_long(value) else repr(value)[:60])
        return InputError(f"{self.where}: {name}: must be {wanted} (found {shown}).", fix=FIX)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not _is_long(value)


def _is_long(value: object) -> bool:
    return isinstance(value, int) and abs(value) > 10**30
