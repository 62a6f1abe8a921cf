"""The ledger of launches: each from before anything is submitted until it is proven that nothing runs any more.

One SQLite file in the workspace. An intent is written before it is carried out, each change of state is one
transaction that names the state it expects, so two clients cannot both make it, and a client killed at any moment
leaves a ledger from which the next command goes on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime

from planner.errors import InputError, NotFoundError, StoreError
from planner.launcher.ledger.entry import LEGAL, Entry, Event, Outcome, State
from planner.launcher.ledger.ledger_file import LedgerFile
from planner.launcher.ledger.ledger_rows import entry_of, events_of, known_machines_of, launch_rows
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.instant import Instant
from planner.launcher.plan.sighting import Known, Sighting, observed


class Ledger(LedgerFile):
    """The launches of one workspace. Safe with several clients; every method is one transaction."""

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
            known = {one.id: one for one in known_machines_of(connection, run_id)}
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
            return entry_of(connection, row, self.path)

    def entries(self, states: Collection[State] = tuple(State)) -> list[Entry]:
        """Return the launches in these states, the oldest first; those that cannot be read are left out."""
        return [entry for entry in self._read().values() if isinstance(entry, Entry) and entry.state in states]

    def unreadable(self) -> dict[str, StoreError]:
        """Return why launches cannot be read, by their ids: each of them may run unseen."""
        return {run_id: entry for run_id, entry in self._read().items() if isinstance(entry, StoreError)}

    def _read(self) -> dict[str, Entry | StoreError]:
        read: dict[str, Entry | StoreError] = {}
        with self._transaction(write=False) as connection:
            for row in launch_rows(connection, self.path):
                try:
                    read[row["run_id"]] = entry_of(connection, row, self.path)
                except StoreError as error:
                    read[row["run_id"]] = error
        return read

    def events(self, run_id: str) -> list[Event]:
        """Return what happened to a launch, in order."""
        with self._transaction(write=False) as connection:
            rows = connection.execute(
                "SELECT at, kind, text FROM events WHERE run_id = ? ORDER BY number", (run_id,)
            ).fetchall()
        return events_of(rows, run_id, self.path)

    def _all(self, connection: sqlite3.Connection) -> list[Entry]:
        return [entry_of(connection, row, self.path) for row in launch_rows(connection, self.path)]

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


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()
