"""Store of the prices that refreshes fetched: every observation is kept, and one query selects the newest.

It is `prices/observed.sqlite` in the workspace (tables: `tables.sql`). Each change is one transaction, so a refresh
that fails half-way changes nothing. Files of earlier versions are imported once: `prices/observations/PROVIDER.csv` and
`prices/read/lists.csv`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from planner.adapters.csv_rows import read_rows
from planner.adapters.documents import read_text
from planner.adapters.files import check_readable
from planner.adapters.price_file import COLUMNS, PRICE_LIMIT_BYTES, parse_prices
from planner.adapters.stored_prices.added_rows import add_list_readings, add_observations
from planner.adapters.stored_prices.price_filter import EVERYTHING, QUERY, PriceFilter, PriceSearch
from planner.errors import StoreError
from planner.model.prices.offer import TRUST, Price, PriceOrigin
from planner.model.prices.price_list import ListRead, Unread

if TYPE_CHECKING:  # not loaded if no stored price is read
    from sqlite3 import Connection

TABLES = Path(__file__).with_name("tables.sql")
SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 60.0
"""Time that a command waits while another one writes."""
PRIMARY_CODE = 0xFF
"""Mask for the primary part of an SQLite error code."""
DAMAGED = ".damaged"
NEWEST = "SELECT price FROM term JOIN offer ON offer.term = term.id JOIN observation ON observation.id = newest"
EVERY = "SELECT price FROM term JOIN offer ON offer.term = term.id JOIN observation ON observation.offer = offer.id"


class DamagedPricesError(StoreError):
    """The file is damaged."""


class PriceStore:
    """Price observations of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self.folder = workspace / "prices"
        self.path = self.folder / "observed.sqlite"

    def current(self, wanted: PriceFilter = EVERYTHING) -> list[Price]:
        """Return the newest wanted observation of each price, from every origin."""
        return _in_order(self._read(f"{NEWEST} WHERE", wanted))

    def search(self, search: PriceSearch) -> tuple[list[Price], list[Unread]]:
        """Return the newest observations that may be among the cheapest, and what was skipped."""
        if self._is_empty:
            return [], []
        with self._reading() as connection:
            regions = () if search.regions is None else connection.execute("SELECT DISTINCT region FROM offer")
            parameters = search.parameters([region for (region,) in regions])
            rows = connection.execute(QUERY.read_text(encoding="utf-8"), parameters).fetchall()
        unread = [Unread.model_validate_json(text) for _, text in rows if text is not None]
        return _in_order(self._built((price,) for price, _ in rows if price is not None)), unread

    def history(self, wanted: PriceFilter = EVERYTHING) -> list[Price]:
        """Return the wanted observations, in the order of adding."""
        return self._read(f"{EVERY} WHERE", wanted, order="ORDER BY observation.id")

    def lists(self) -> list[ListRead]:
        """Return which complete lists were read, each with the day of its last reading."""
        if self._is_empty:
            return []
        columns = tuple(ListRead.model_fields)
        with self._reading() as connection:
            rows = connection.execute(f"SELECT {', '.join(columns)} FROM list_read ORDER BY rowid")
            return [ListRead.model_validate_strings(dict(zip(columns, row, strict=True))) for row in rows]

    def add(self, prices: Iterable[Price]) -> int:
        """Store new observations. Return how many were not known word for word."""
        by_provider: dict[str, list[Price]] = {}
        for price in prices:
            by_provider.setdefault(price.provider, []).append(price)
        if not by_provider:
            return 0
        with self._writing() as connection:
            return sum(add_observations(connection, provider, rows) for provider, rows in by_provider.items())

    def add_lists(self, lists: Iterable[ListRead]) -> None:
        """Store that these lists were read. The last reading of each counts."""
        fresh = list(lists)
        if fresh:
            with self._writing() as connection:
                add_list_readings(connection, fresh)

    def heal(self) -> list[Path]:
        """Set an unreadable file aside, so that a new one can begin. Return its new path."""
        if self._is_empty:
            return []
        try:
            with self._reading() as connection:
                [problem] = connection.execute("PRAGMA quick_check(1)").fetchone()
            self.current()
        except DamagedPricesError as error:
            problem = str(error)
        if problem == "ok":
            return []
        aside = self.path.with_name(self.path.name + DAMAGED)
        with self._translated():
            self.path.replace(aside)
        return [aside]

    def _read(self, query: str, wanted: PriceFilter, *, order: str = "") -> list[Price]:
        if wanted.wants_nothing or self._is_empty:
            return []
        condition, parameters = wanted.condition()
        with self._reading() as connection:
            return self._built(connection.execute(f"{query} {condition} {order}", parameters))

    def _built(self, rows: Iterable[tuple[str]]) -> list[Price]:
        try:
            return [Price.model_validate_json(text) for (text,) in rows]
        except ValidationError as error:
            raise self._damaged(str(error.errors()[0]["msg"])) from error

    def _damaged(self, problem: str) -> DamagedPricesError:
        fix = "It is set aside, and a new one begun, by: planner prices refresh"
        return DamagedPricesError(f"{self.path}: cannot be read: {problem}.", fix=fix)

    @property
    def _is_empty(self) -> bool:
        """Return whether no refresh was ever made here."""
        check_readable(self.path)
        return not self.path.is_file() and not has_earlier_files(self.folder)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """Open the stored prices for reading.

        Files of an earlier version are read in memory if the disk is read-only.
        """
        import sqlite3

        with self._translated():
            try:
                connection = self._opened()
            except (sqlite3.OperationalError, OSError):
                if self.path.is_file():
                    raise
                connection = sqlite3.connect(":memory:", isolation_level=None)
                self._begin(connection)
            with closing(connection):
                yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """Let one command write at a time, all of its changes or none."""
        with self._translated():
            self.folder.mkdir(parents=True, exist_ok=True)
            with closing(self._opened()) as connection, _transaction(connection):
                yield connection

    def _opened(self) -> Connection:
        """Return a connection to the file, which is created if missing."""
        import sqlite3

        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        try:
            [version] = connection.execute("PRAGMA user_version").fetchone()
            if version > SCHEMA_VERSION:
                fix = "Use that version, or another workspace."
                raise StoreError(f"{self.path}: was written by a newer planner (version {version}).", fix=fix)
            if version < SCHEMA_VERSION:
                self._begin(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin(self, connection: Connection) -> None:
        """Create the tables and import an earlier version's files, unless another command has just done so."""
        with _transaction(connection):
            if connection.execute("PRAGMA user_version").fetchone()[0]:
                return
            for statement in TABLES.read_text(encoding="utf-8").split(";\n"):
                connection.execute(statement)
            for rows in earlier_observations(self.folder):
                if rows:
                    add_observations(connection, rows[0].provider, rows)
            add_list_readings(connection, earlier_lists(self.folder))
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        import sqlite3

        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise self._damaged(str(error)) from error
            fix = "Make room, or check its permissions; nothing was lost."
            raise StoreError(f"{self.path}: cannot be used: {error}.", fix=fix) from error
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise StoreError(f"{self.folder}: cannot be written: {reason}.", fix="Check its permissions.") from error


@contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _in_order(prices: Iterable[Price]) -> list[Price]:
    """Return prices in a fixed order, whichever source answered first."""
    return sorted(prices, key=lambda row: (row.provider, TRUST[row.origin], _place(row)))


def _place(row: Price) -> list[str]:
    names = "instance_type", "accelerator", "accelerators", "region", "zone", "price_kind"
    return [str(getattr(row, name)) for name in names]


def has_earlier_files(folder: Path) -> bool:
    """Return whether the folder `prices` of a workspace has observations of an earlier version."""
    return (folder / "observations").is_dir()


def earlier_observations(folder: Path) -> Iterator[list[Price]]:
    """Yield the observations of each provider, in the order of adding. An incomplete last line is skipped."""
    for path in sorted((folder / "observations").glob("*.csv")):
        text = read_text(path, limit_bytes=PRICE_LIMIT_BYTES)
        whole = text[: text.rfind("\n") + 1] or ",".join(COLUMNS)
        rows = parse_prices(whole, where=str(path), origin=PriceOrigin.BUNDLED, duplicates=True)
        yield [row for _, row in rows]


def earlier_lists(folder: Path) -> list[ListRead]:
    """Return which complete lists were read."""
    path = folder / "read" / "lists.csv"
    return read_rows(ListRead, path) if path.exists() else []
