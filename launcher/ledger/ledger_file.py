"""SQLite file of the ledger: creates, opens and reads it, also on a read-only disk, and explains errors."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from planner.errors import StoreError
from planner.launcher.ledger.entry import Event, LedgerEntry
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.sighting import KnownMachine

SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 10.0
PRIMARY_CODE = 0xFF
"""Mask for the primary part of an SQLite error code."""
STILL_SEEN = "Machines that still run are found without it: planner launches reap; planner launches down ID ends them"
_TABLES = """
CREATE TABLE IF NOT EXISTS launches (
  run_id TEXT PRIMARY KEY,
  launch TEXT NOT NULL,
  state TEXT NOT NULL,
  outcome TEXT,
  planned_at TEXT NOT NULL,
  submitted_at TEXT,
  deadline_at TEXT,
  ended_at TEXT,
  record_id TEXT,
  submitted_instant TEXT,
  seen_up_s REAL,
  counted_s REAL
) STRICT;
CREATE TABLE IF NOT EXISTS events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL REFERENCES launches (run_id),
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS machines (
  run_id TEXT NOT NULL REFERENCES launches (run_id),
  id TEXT NOT NULL,
  known TEXT NOT NULL,
  PRIMARY KEY (run_id, id)
) STRICT;
CREATE INDEX IF NOT EXISTS events_by_run ON events (run_id, number);
"""
_ADDED = {"submitted_instant": "TEXT", "seen_up_s": "REAL", "counted_s": "REAL", "account": "TEXT"}
"""Columns that older ledgers lack, as they lack the table of machines. An older planner ignores them."""


class LedgerFile:
    """One SQLite file whose reads and writes are transactions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read_only = False
        """True if the disk is read-only. Launches can then still be read, followed and taken down."""
        if path.parent.exists() and not path.parent.is_dir():
            raise StoreError(f"{path.parent}: is a file, not a folder.", fix="Name another workspace.")
        with self._translated():
            try:
                self._prepare()
            except (sqlite3.OperationalError, OSError):
                if not self._readable():
                    raise
                self.read_only = True

    def _prepare(self) -> None:
        """Create the file and its tables if they are missing."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise StoreError(
                    f"{self.path}: was written by a newer planner (ledger version {version}).",
                    fix="Use that version, or another workspace.",
                )
            connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
            self._add_columns(connection)

    @staticmethod
    def _add_columns(connection: sqlite3.Connection) -> None:
        def missing() -> list[str]:
            existing_columns = {row[1] for row in connection.execute("PRAGMA table_info(launches)")}
            return [column for column in _ADDED if column not in existing_columns]

        if missing():
            connection.execute("BEGIN IMMEDIATE")
            for column in missing():  # checked again: another client may have been faster
                connection.execute(f"ALTER TABLE launches ADD COLUMN {column} {_ADDED[column]}")
            connection.execute("COMMIT")

    def _readable(self) -> bool:
        """Return whether launches can be read without any write."""
        if not self.path.is_file():
            return False
        try:
            with contextlib.closing(self._connect_for_reading()) as connection:
                connection.execute("SELECT count(*) FROM launches").fetchone()
        except sqlite3.Error:
            return False
        return True

    def _connect_for_reading(self) -> sqlite3.Connection:
        """Open the file as it is, without the side files that SQLite creates for writing."""
        beside = any(self.path.with_name(f"{self.path.name}{end}").exists() for end in ("-shm", "-wal"))
        address = f"{self.path.resolve().as_uri()}?mode=ro{'' if beside else '&immutable=1'}"
        connection = sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        connection.row_factory = sqlite3.Row
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # a launch that a power failure erases would run unseen
        return connection

    @contextlib.contextmanager
    def _transaction(self, *, write: bool = True) -> Iterator[sqlite3.Connection]:
        connect = self._connect_for_reading if self.read_only and not write else self._connect
        with self._translated(), contextlib.closing(connect()) as connection:
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE
            fix = (
                "Make room on the disk; nothing was submitted without being written down first."
                if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
                else f"Restore a copy, or move the file away. {STILL_SEEN}"
            )
            raise StoreError(f"{self.path}: the ledger cannot be used: {error}.", fix=fix) from error
        except UnicodeDecodeError as error:  # SQLite names the damage by its bytes
            raise StoreError(
                f"{self.path}: the ledger cannot be used: it is damaged.",
                fix=f"Restore a copy, or move the file away. {STILL_SEEN}",
            ) from error
        except OSError as error:
            raise StoreError(
                f"{self.path}: the ledger cannot be used: {error.strerror}.", fix="Check the disk and the place."
            ) from error


def launch_rows(connection: sqlite3.Connection, path: Path) -> list[sqlite3.Row]:
    """Return the rows of all launches, the oldest first."""
    rows = connection.execute("SELECT * FROM launches ORDER BY planned_at, run_id").fetchall()
    if any(not isinstance(row["run_id"], str) for row in rows):  # SQLite itself refuses to write such a row
        raise StoreError(f"{path}: is damaged: a launch has no id.", fix=f"Restore the file. {STILL_SEEN}")
    return rows


def known_machines_of(connection: sqlite3.Connection, run_id: str) -> list[KnownMachine]:
    """Return the machines of a launch; none if the ledger has no table of them: an older one that cannot be written."""
    table = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'machines'").fetchone()
    if table is None:
        return []
    rows = connection.execute("SELECT known FROM machines WHERE run_id = ? ORDER BY rowid", (run_id,))
    return [KnownMachine.model_validate_json(known) for (known,) in rows]


def entry_of(connection: sqlite3.Connection, row: sqlite3.Row, path: Path) -> LedgerEntry:
    """Return the launch that a row of the table `launches` describes, with its machines."""
    cells: dict[str, Any] = dict(row)
    try:
        document, instant = cells.pop("launch"), cells.get("submitted_instant")
        known_machines = known_machines_of(connection, cells["run_id"])
        changed = {"deadline_at": cells["deadline_at"]}
        if cells.get("account") is not None:
            changed["account"] = cells["account"]
        launch = Launch.model_validate(json.loads(document) | changed).model_copy(
            update={"known": tuple(known_machines)}
        )
        known = {name: cells[name] for name in LedgerEntry.model_fields if name in cells}
        known["submitted_instant"] = None if instant is None else json.loads(instant)
        return LedgerEntry.model_validate(known | {"launch": launch})
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:  # KeyError: a column is gone
        raise StoreError(
            f"{path}: launch {cells['run_id']} cannot be read: {error}.",
            fix=f"Restore the file. {STILL_SEEN}",
        ) from error


def events_of(rows: list[sqlite3.Row], run_id: str, path: Path) -> list[Event]:
    """Return the events of a launch. Each row holds a time, a kind and a text."""
    try:
        return [Event(at=at, kind=kind, text=text) for at, kind, text in rows]
    except ValueError as error:
        raise StoreError(
            f"{path}: the events of launch {run_id} cannot be read: {error}.",
            fix=f"Restore the file. {STILL_SEEN}",
        ) from error
