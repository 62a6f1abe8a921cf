"""What refreshes have brought: every observation is kept, and the newest of each price is at hand for estimates.

In the workspace: `prices/observations/PROVIDER.csv` only grows; `prices/current/PROVIDER.csv` holds the last row of
each instance with what it carries, place, kind and origin, and is replaced in one step; `prices/read/lists.csv` says
which whole lists were read when, and is written last. A refresh that fails half-way leaves all as they were.
`prices/selected/` holds what searches have read of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from planner.adapters.csv_rows import read_rows
from planner.adapters.documents import read_text
from planner.adapters.files import write_text
from planner.adapters.price_file import COLUMNS, PRICE_LIMIT_BYTES, as_csv, parse_prices, read_prices
from planner.adapters.price_filter import EVERYTHING, PriceFilter
from planner.adapters.price_selection import KeptSelection, clear_selections
from planner.errors import InputError, StoreError
from planner.model.prices.offer import TRUST, Price, PriceOrigin
from planner.model.prices.price_list import ListRead
from planner.text.table_cells import table_text

Key = tuple[str, str, str | None, int | None, str, str | None, str, str]


def key_of(price: Price) -> Key:
    """Return what two observations of one price have in common."""
    return (
        price.provider, price.instance_type, price.accelerator, price.accelerators, price.region, price.zone,
        price.price_kind.value, price.origin.value,
    )  # fmt: skip


class PriceStore:
    """The observations of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self.folder = workspace / "prices"
        self._current = self.folder / "current"
        self._history = self.folder / "observations"
        self._lists = self.folder / "read" / "lists.csv"
        self._selected = self.folder / "selected"

    def current(self, wanted: PriceFilter = EVERYTHING) -> list[Price]:
        """Return the newest observation of each price that is wanted, from every origin."""
        if wanted.wants_nothing:
            return []
        paths = sorted(self._current.glob("*.csv"))
        kept = KeptSelection(self._selected, paths, wanted, wanted.search) if wanted.search and paths else None
        rows = kept.read() if kept else None
        if rows is None:
            rows = [row for path in paths for row in self._newest(path, wanted)]
            if kept:
                kept.write(rows)
        return rows

    def heal(self) -> list[Path]:
        """Write those files of newest prices anew, from the observations, that cannot be read; return them."""
        healed = []
        for path in sorted(self._current.glob("*.csv")):
            try:
                self._newest(path)
            except StoreError:
                with self._locked():
                    self._replace(path, self._rows(self._history / path.name))
                healed.append(path)
        return healed

    def history(self, wanted: PriceFilter = EVERYTHING) -> list[Price]:
        """Return the wanted observations, in the order of adding; a last line without its end is passed over."""
        return [row for path in sorted(self._history.glob("*.csv")) for row in self._rows(path, wanted)]

    def add(self, prices: Iterable[Price]) -> int:
        """Keep new observations; return how many were not known already, word for word."""
        by_provider: dict[str, list[Price]] = {}
        for price in prices:
            by_provider.setdefault(price.provider, []).append(price)
        if not by_provider:
            return 0
        with self._locked():
            return sum(self._add(provider, rows) for provider, rows in by_provider.items())

    def lists(self) -> list[ListRead]:
        """Return which whole lists were read, each with the day of its last reading."""
        if not self._lists.exists():
            return []
        try:
            return read_rows(ListRead, self._lists)
        except InputError as error:
            fix = "Remove the file; it is written anew by: planner prices refresh"
            raise StoreError(error.message, fix=fix) from error

    def add_lists(self, lists: Iterable[ListRead]) -> None:
        """Keep that these lists were read; of each, the last reading counts."""
        fresh = list(lists)
        if not fresh:
            return
        with self._locked():
            newest: dict[tuple[str, ...], ListRead] = {}
            for read in (*self.lists(), *fresh):
                key = (read.provider, read.origin.value, read.price_kind.value, read.region)
                if key not in newest or newest[key].read_on <= read.read_on:
                    newest[key] = read
            rows = [[str(getattr(read, name)) for name in ListRead.model_fields] for read in newest.values()]
            text = table_text([list(ListRead.model_fields)], ",") + table_text(rows, ",")
            write_text(self._lists, text, of_store=True)

    def _add(self, provider: str, rows: list[Price]) -> int:
        current_path = self._current / f"{provider}.csv"
        known = self._newest(current_path) if current_path.exists() else []
        current = {key_of(row): row for row in known}
        fresh = [row for row in rows if current.get(key_of(row)) != row]
        if not fresh:
            return 0
        self._append(self._history / f"{provider}.csv", fresh)
        self._replace(current_path, [*known, *fresh])
        return len(fresh)

    def _replace(self, path: Path, rows: Iterable[Price]) -> None:
        """Write the newest of these rows in place of a provider's, whichever source answered first."""
        newest = _newest_of(rows).values()
        in_order = sorted(newest, key=lambda row: (TRUST[row.origin], [str(one) for one in key_of(row)]))
        write_text(path, as_csv(in_order), of_store=True)
        clear_selections(self._selected)

    def _append(self, path: Path, rows: list[Price]) -> None:
        """Add complete lines at the end; what cannot be written whole is taken back."""
        try:
            with path.open("ab+") as file:
                size = file.seek(0, os.SEEK_END)
                if size:
                    file.seek(size - 1)
                    if file.read(1) != b"\n":  # a line that never got its end
                        size = _end_of_last_line(path)
                        file.truncate(size)
                try:
                    file.write(as_csv(rows, header=size == 0).encode())
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    file.truncate(size)
                    raise
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise StoreError(f"{path}: cannot be written: {reason}.", fix="Nothing was lost; make room.") from error

    def _newest(self, path: Path, wanted: PriceFilter = EVERYTHING) -> list[Price]:
        try:
            return read_prices(path, wanted=wanted)
        except InputError as error:
            fix = "It was changed by hand or by another program; it is written anew by: planner prices refresh"
            raise StoreError(error.message, fix=fix) from error

    def _rows(self, path: Path, wanted: PriceFilter = EVERYTHING) -> list[Price]:
        text = read_text(path, limit_bytes=PRICE_LIMIT_BYTES)
        whole = text[: text.rfind("\n") + 1] or ",".join(COLUMNS)
        rows = parse_prices(whole, where=str(path), origin=PriceOrigin.BUNDLED, doubles=True, wanted=wanted)
        return [row for _, row in rows]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let one refresh write at a time."""
        from filelock import FileLock

        try:
            for folder in (self._current, self._history, self._lists.parent):
                folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / ".lock"):
                yield
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise StoreError(f"{self.folder}: cannot be written: {reason}.", fix="Check its permissions.") from error


def _newest_of(prices: Iterable[Price]) -> dict[Key, Price]:
    """Return the newest observation of each price; of one day the last."""
    newest: dict[Key, Price] = {}
    for row in prices:
        known = newest.get(key_of(row))
        if known is None or row.as_of >= known.as_of:
            newest[key_of(row)] = row
    return newest


def _end_of_last_line(path: Path) -> int:
    return path.read_bytes().rfind(b"\n") + 1
