"""Which fetched prices a search read, kept so that the same search of the same files need not choose again.

`prices/selected/DIGEST.json` in the workspace; DIGEST is of all that decides the choice, so that a file is right for as
long as it is found. All of them may be removed at any time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import date
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from planner.adapters import price_file, price_search
from planner.adapters.documents import read_text
from planner.adapters.files import write_text
from planner.adapters.price_file import PRICE_LIMIT_BYTES, as_csv, parse_prices
from planner.adapters.price_filter import PriceFilter
from planner.adapters.price_search import Search
from planner.errors import InputError, PlannerError
from planner.model.base import Frozen
from planner.model.prices import offer
from planner.model.prices.offer import Price, PriceOrigin
from planner.model.prices.unread import Unread
from planner.scenario import cheapest_rows, price_choice, region_groups

KEPT = 8
"""Selections: of as many searches, those that were read last."""
CHOOSES = (cheapest_rows, offer, price_choice, price_file, price_search, region_groups)
"""Modules whose change may change the choice."""


class Selection(Frozen):
    """The prices that were read, as CSV, and what was left out."""

    rows: str
    unread: tuple[Unread, ...]


class KeptSelection:
    """What one search reads of some price files."""

    def __init__(self, folder: Path, files: Sequence[Path], wanted: PriceFilter, search: Search) -> None:
        self._search = search
        self._path = folder / f"{_digest_of_choice(files, wanted, search)}.json"

    def read(self) -> list[Price] | None:
        """Return the prices, and count what was left out; None where they are not kept, or not as they were written."""
        try:
            written, _, text = read_text(self._path, limit_bytes=PRICE_LIMIT_BYTES).partition("\n")
            if written != _digest(text):
                return None
            selection = Selection.model_validate_json(text)
            rows = parse_prices(selection.rows, where=str(self._path), origin=PriceOrigin.BUNDLED, doubles=True)
        except (InputError, ValidationError):
            return None
        self._search.leave_out(selection.unread)
        with suppress(OSError):
            os.utime(self._path)  # what is read stays
        return [row for _, row in rows]

    def write(self, rows: Sequence[Price]) -> None:
        """Keep the prices and what was left out; where that cannot be written, the next search chooses again."""
        text = Selection(rows=as_csv(rows), unread=self._search.unread()).model_dump_json()
        with suppress(OSError, PlannerError):
            self._path.parent.mkdir(exist_ok=True)
            write_text(self._path, f"{_digest(text)}\n{text}", of_store=True)
        clear_selections(self._path.parent, but=KEPT)


def clear_selections(folder: Path, *, but: int = 0) -> None:
    """Remove what was kept, but the newest few: all where the price files have changed, as it is not found any more."""
    with suppress(OSError):
        for path in sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)[but:]:
            path.unlink()


def _digest_of_choice(files: Sequence[Path], wanted: PriceFilter, search: Search) -> str:
    decides = [
        [_state(path) for path in files],
        CODE,
        [getattr(wanted, field.name) for field in fields(wanted) if field.name != "search"],
        [getattr(search, field.name) for field in fields(search) if field.compare],
    ]
    return _digest(json.dumps(decides, default=_plain))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _state(path: Path) -> tuple[str, int, int, int]:
    """Return what a file that is replaced has in another way; zeros of one that is not there."""
    try:
        state = path.stat()
    except OSError:
        return path.name, 0, 0, 0
    return path.name, state.st_ino, state.st_size, state.st_mtime_ns


CODE = tuple(_state(Path(module.__file__ or "")) for module in CHOOSES)
"""As it was loaded: another version may lie there since."""


def _plain(value: object) -> object:
    if isinstance(value, Frozen):
        return value.model_dump(mode="json")
    return value.isoformat() if isinstance(value, date) else sorted(value)  # type: ignore[call-overload]
