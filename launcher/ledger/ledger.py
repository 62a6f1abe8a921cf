"""The ledger of launches: each from before anything is submitted until it is proven that nothing runs any more.

One SQLite file in the workspace. An intent is written before it is carried out, each change of state is one
transaction that names the state it expects, so two clients cannot both make it, and a client killed at any moment
leaves a ledger from which the next command goes on.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from launcher.ledger.entry import LEGAL, Entry, Event, Outcome, State
from launcher.plan.backend import Launch
from launcher.plan.instant import Instant
from launcher.plan.sighting import Known, Sighting, observed
from planner.errors import InputError, NotFoundError, StoreError

SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 10.0
PRIMARY_CODE = 0xFF
"""The bits of SQLite's error code without its detail."""
ELSEWHERE = "What runs shows all the same: planner launches reap; planner launches down ID ends it"


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
"""Columns that older ledgers lack, like the table of machines; an older planner neither reads nor needs them."""


class Ledger:
    """The launches of one workspace. Safe with several clients; every method is one transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read_only = False
        """Whether the disk lets nothing be written: then launches can still be read, followed and taken down."""
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
        """Make the file and its tables, where they are missing."""
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
            there = {row[1] for row in connection.execute("PRAGMA table_info(launches)")}
            return [column for column in _ADDED if column not in there]

        if missing():
            connection.execute("BEGIN IMMEDIATE")
            for column in missing():  # asked again, for another client may have been faster
                connection.execute(f"ALTER TABLE launches ADD COLUMN {column} {_ADDED[column]}")
            connection.execute("COMMIT")

    def _readable(self) -> bool:
        """Return whether launches can be read without a write of any kind."""
        if not self.path.is_file():
            return False
        try:
            with contextlib.closing(self._connect_for_reading()) as connection:
                connection.execute("SELECT count(*) FROM launches").fetchone()
        except sqlite3.Error:
            return False
        return True

    def plan(self, launches: Sequence[Launch], *, check: Callable[[Sequence[Entry]], None] | None = None) -> None:
        """Write intents down, all or none, before anything is submitted.

        `check` gets what the ledger holds and may raise; nothing can be planned in between, so two clients cannot
        both spend the last of a budget.
        """
        with self._transaction() as connection:
            if check is not None:
                check(self._all(connection))
            for launch in launches:
                try:
                    connection.execute(
                        "INSERT INTO launches (run_id, launch, state, planned_at) VALUES (?, ?, ?, ?)",
                        (launch.run_id, launch.model_dump_json(), State.PLANNED, _text(launch.planned_at)),
                    )
                except sqlite3.IntegrityError:
                    raise InputError(f"{self.path}: a launch '{launch.run_id}' is there already.") from None
                self._note(connection, launch.run_id, launch.planned_at, State.PLANNED, launch.target.id)

    def move(
        self,
        run_id: str,
        to: State,
        *,
        at: datetime,
        text: str = "",
        outcome: Outcome | None = None,
        deadline_at: datetime | None = None,
        instant: Instant | None = None,
        counted_s: float | None = None,
        expected: State | None = None,
    ) -> bool:
        """Change the state, and return whether this client was the one that did.

        False: it was there already, or not in the `expected` state any more, because another client was faster. An
        illegal change is our own mistake. `instant` is that of a submission, `counted_s` for how long a launch that
        is proven gone counts as billed.
        """
        with self._transaction() as connection:
            now = self._state(connection, run_id)
            if now is to or (expected is not None and now is not expected):
                return False
            if to not in LEGAL[now]:
                raise AssertionError(f"launch {run_id}: {now} cannot become {to}")
            connection.execute(
                "UPDATE launches SET state = ?, outcome = coalesce(?, outcome), deadline_at = coalesce(?, deadline_at),"
                " submitted_instant = coalesce(?, submitted_instant), counted_s = coalesce(?, counted_s),"
                " submitted_at = CASE WHEN ? THEN ? ELSE submitted_at END,"
                " ended_at = CASE WHEN ? THEN ? ELSE ended_at END WHERE run_id = ?",
                (
                    *(to, outcome, None if deadline_at is None else _text(deadline_at)),
                    *(None if instant is None else instant.model_dump_json(), counted_s),
                    *(to is State.SUBMITTED, _text(at), to is State.DOWN_VERIFIED, _text(at), run_id),
                ),
            )
            self._note(connection, run_id, at, to, text)
            return True

    def note(self, run_id: str, kind: str, text: str, *, at: datetime) -> None:
        """Write an event down that changes no state."""
        with self._transaction() as connection:
            self._state(connection, run_id)
            self._note(connection, run_id, at, kind, text)

    def see_up(self, run_id: str, *, elapsed_s: float) -> None:
        """Write down that machines were seen up so long after the submission."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE launches SET seen_up_s = max(coalesce(seen_up_s, 0.0), ?) WHERE run_id = ?", (elapsed_s, run_id)
            )

    def see(self, run_id: str, seen: Sequence[Sighting], *, at: datetime, instant: Instant) -> tuple[Known, ...]:
        """Add one look at the machines of a launch to what is known of them, and return that."""
        with self._transaction() as connection:
            self._state(connection, run_id)
            known = {one.id: one for one in self._known(connection, run_id)}
            for one in seen:
                known[one.id] = observed(known.get(one.id), one, instant=instant, now=at)
                connection.execute(
                    "INSERT INTO machines (run_id, id, known) VALUES (?, ?, ?)"
                    " ON CONFLICT (run_id, id) DO UPDATE SET known = excluded.known",
                    (run_id, one.id, known[one.id].model_dump_json()),
                )
        return tuple(known.values())

    def set_account(self, run_id: str, account: str | None, *, at: datetime, forget_marks: bool) -> None:
        """Write down that a person vouches for another account: from now on its word counts for this launch.

        `forget_marks`: what told its hosts from others is not compared any more.
        """
        with self._transaction() as connection:
            connection.execute("UPDATE launches SET account = ? WHERE run_id = ?", (account, run_id))
            if forget_marks:
                connection.execute("DELETE FROM machines WHERE run_id = ?", (run_id,))
            self._note(connection, run_id, at, "ACCOUNT_CHANGED", f"by a person's word: {account}")

    def set_record(self, run_id: str, record_id: str) -> None:
        """Write down which RunRecord was made of the results."""
        with self._transaction() as connection:
            connection.execute("UPDATE launches SET record_id = ? WHERE run_id = ?", (record_id, run_id))

    def entry(self, run_id: str) -> Entry:
        """Return one launch; raises with the nearest ids where there is none."""
        with self._transaction(write=False) as connection:
            row = connection.execute("SELECT * FROM launches WHERE run_id = ?", (run_id,)).fetchone()
            if row is None:
                known = [str(one) for (one,) in connection.execute("SELECT run_id FROM launches")]
                fix = "List them with: planner launches list"
                raise NotFoundError("launch", run_id, known, where=str(self.path), fix=fix)
            return self._entry(connection, row)

    def entries(self, states: Collection[State] = tuple(State)) -> list[Entry]:
        """Return the launches in these states, the oldest first; those that cannot be read are left out."""
        return [entry for entry in self._read().values() if isinstance(entry, Entry) and entry.state in states]

    def unreadable(self) -> dict[str, StoreError]:
        """Return why launches cannot be read, by their ids: each of them may run unseen."""
        return {run_id: entry for run_id, entry in self._read().items() if isinstance(entry, StoreError)}

    def _read(self) -> dict[str, Entry | StoreError]:
        read: dict[str, Entry | StoreError] = {}
        with self._transaction(write=False) as connection:
            for row in self._rows(connection):
                try:
                    read[row["run_id"]] = self._entry(connection, row)
                except StoreError as error:
                    read[row["run_id"]] = error
        return read

    def events(self, run_id: str) -> list[Event]:
        """Return what happened to a launch, in order."""
        with self._transaction(write=False) as connection:
            rows = connection.execute(
                "SELECT at, kind, text FROM events WHERE run_id = ? ORDER BY number", (run_id,)
            ).fetchall()
        try:
            return [Event(at=at, kind=kind, text=text) for at, kind, text in rows]
        except ValueError as error:
            raise StoreError(
                f"{self.path}: the events of launch {run_id} cannot be read: {error}.",
                fix=f"Restore the file. {ELSEWHERE}",
            ) from error

    def _all(self, connection: sqlite3.Connection) -> list[Entry]:
        return [self._entry(connection, row) for row in self._rows(connection)]

    def _rows(self, connection: sqlite3.Connection) -> list[sqlite3.Row]:
        rows = connection.execute("SELECT * FROM launches ORDER BY planned_at, run_id").fetchall()
        if any(not isinstance(row["run_id"], str) for row in rows):  # SQLite itself refuses to write such a row
            raise StoreError(
                f"{self.path}: is damaged: a launch in it has no id.", fix=f"Restore the file. {ELSEWHERE}"
            )
        return rows

    @staticmethod
    def _known(connection: sqlite3.Connection, run_id: str) -> list[Known]:
        """Return the machines of a launch; none in a ledger that an older planner made and nobody can write."""
        there = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'machines'").fetchone()
        if there is None:
            return []
        rows = connection.execute("SELECT known FROM machines WHERE run_id = ? ORDER BY rowid", (run_id,))
        return [Known.model_validate_json(known) for (known,) in rows]

    def _entry(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Entry:
        cells: dict[str, Any] = dict(row)
        try:
            document, instant = cells.pop("launch"), cells.get("submitted_instant")
            known_machines = self._known(connection, cells["run_id"])
            changed = {"deadline_at": cells["deadline_at"]}
            if cells.get("account") is not None:
                changed["account"] = cells["account"]
            launch = Launch.model_validate(json.loads(document) | changed).model_copy(
                update={"known": tuple(known_machines)}
            )
            known = {name: cells[name] for name in Entry.model_fields if name in cells}
            known["submitted_instant"] = None if instant is None else json.loads(instant)
            return Entry.model_validate(known | {"launch": launch})
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:  # KeyError: a column is gone
            raise StoreError(
                f"{self.path}: launch {cells['run_id']} cannot be read: {error}.",
                fix=f"Restore the file. {ELSEWHERE}",
            ) from error

    def _state(self, connection: sqlite3.Connection, run_id: str) -> State:
        row = connection.execute("SELECT state FROM launches WHERE run_id = ?", (run_id,)).fetchone()
        if row is None:
            raise NotFoundError("launch", run_id, (), where=str(self.path), fix="See: planner launches list")
        return State(row[0])

    @staticmethod
    def _note(connection: sqlite3.Connection, run_id: str, at: datetime, kind: str, text: str) -> None:
        connection.execute(
            "INSERT INTO events (run_id, at, kind, text) VALUES (?, ?, ?, ?)", (run_id, _text(at), kind, text)
        )

    def _connect_for_reading(self) -> sqlite3.Connection:
        """Open the file as it is, without making the files that SQLite keeps beside it while it writes."""
        beside = any(self.path.with_name(f"{self.path.name}{end}").exists() for end in ("-shm", "-wal"))
        address = f"{self.path.resolve().as_uri()}?mode=ro{'' if beside else '&immutable=1'}"
        connection = sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        connection.row_factory = sqlite3.Row
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # a launch that power loss forgets would run unseen
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
                else f"Restore a copy, or move the file away. {ELSEWHERE}"
            )
            raise StoreError(f"{self.path}: the ledger cannot be used: {error}.", fix=fix) from error
        except UnicodeDecodeError as error:  # SQLite names what is damaged by its bytes
            raise StoreError(
                f"{self.path}: the ledger cannot be used: it is damaged.",
                fix=f"Restore a copy, or move the file away. {ELSEWHERE}",
            ) from error
        except OSError as error:
            raise StoreError(
                f"{self.path}: the ledger cannot be used: {error.strerror}.", fix="Check the disk and the place."
            ) from error


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()
