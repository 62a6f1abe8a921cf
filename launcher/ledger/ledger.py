"""Ledger of launches, each from before submission until it is proven that nothing runs any more.

It is one SQLite file in the workspace. An intent is written before it is carried out. Each change of state is one
transaction that names the expected state, so that two clients cannot both make it. If a client is killed at any moment,
the next command continues from the ledger.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime

from planner.errors import InputError, NotFoundError, StoreError
from planner.launcher.ledger.entry import LEGAL, Event, LaunchOutcome, LedgerEntry, State
from planner.launcher.ledger.ledger_file import LedgerFile, entry_of, events_of, known_machines_of, launch_rows
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.instant import Instant
from planner.launcher.plan.sighting import KnownMachine, Sighting, observed


class Ledger(LedgerFile):
    """Launches of one workspace. Safe with several clients; every method is one transaction."""

    def plan(self, launches: Sequence[Launch], *, check: Callable[[Sequence[LedgerEntry]], None] | None = None) -> None:
        """Write down intents before anything is submitted: all of them or none.

        `check` gets the ledger's entries and may raise. Nothing else can be planned in between, so two clients cannot
        both spend the rest of a budget.
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
        outcome: LaunchOutcome | None = None,
        deadline_at: datetime | None = None,
        instant: Instant | None = None,
        counted_s: float | None = None,
        expected: State | None = None,
    ) -> bool:
        """Change the state, and return whether this client made the change.

        Returns False if the launch is already in state `to`, or no longer in the `expected` state because another
        client was faster. An illegal change is a bug of ours. `instant` belongs to a submission; `counted_s` is the
        billed duration of a launch that is proven gone.
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
        """Write down an event that changes no state."""
        with self._transaction() as connection:
            self._state(connection, run_id)
            self._note(connection, run_id, at, kind, text)

    def see_up(self, run_id: str, *, elapsed_s: float) -> None:
        """Write down that machines were seen up this long after submission."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE launches SET seen_up_s = max(coalesce(seen_up_s, 0.0), ?) WHERE run_id = ?", (elapsed_s, run_id)
            )

    def see(self, run_id: str, seen: Sequence[Sighting], *, at: datetime, instant: Instant) -> tuple[KnownMachine, ...]:
        """Add one look to the record of a launch's machines, and return the updated record."""
        with self._transaction() as connection:
            self._state(connection, run_id)
            known = {machine.id: machine for machine in known_machines_of(connection, run_id)}
            for sighting in seen:
                known[sighting.id] = observed(known.get(sighting.id), sighting, instant=instant, now=at)
                connection.execute(
                    "INSERT INTO machines (run_id, id, known) VALUES (?, ?, ?)"
                    " ON CONFLICT (run_id, id) DO UPDATE SET known = excluded.known",
                    (run_id, sighting.id, known[sighting.id].model_dump_json()),
                )
        return tuple(known.values())

    def set_account(self, run_id: str, account: str | None, *, at: datetime, forget_marks: bool) -> None:
        """Write down that the user vouches for another account. From now on that account speaks for this launch.

        `forget_marks` drops the marks that told its hosts from others, so that they are no longer compared.
        """
        with self._transaction() as connection:
            connection.execute("UPDATE launches SET account = ? WHERE run_id = ?", (account, run_id))
            if forget_marks:
                connection.execute("DELETE FROM machines WHERE run_id = ?", (run_id,))
            self._note(connection, run_id, at, "ACCOUNT_CHANGED", f"by a person's word: {account}")

    def set_record(self, run_id: str, record_id: str) -> None:
        """Write down which RunRecord was made from the results."""
        with self._transaction() as connection:
            connection.execute("UPDATE launches SET record_id = ? WHERE run_id = ?", (record_id, run_id))

    def entry(self, run_id: str) -> LedgerEntry:
        """Return one launch. Raises with the nearest ids if it does not exist."""
        with self._transaction(write=False) as connection:
            row = connection.execute("SELECT * FROM launches WHERE run_id = ?", (run_id,)).fetchone()
            if row is None:
                known = [str(known_id) for (known_id,) in connection.execute("SELECT run_id FROM launches")]
                fix = "List them with: planner launches list"
                raise NotFoundError("launch", run_id, known, where=str(self.path), fix=fix)
            return entry_of(connection, row, self.path)

    def entries(self, states: Collection[State] = tuple(State)) -> list[LedgerEntry]:
        """Return the launches in these states, the oldest first. Launches that cannot be read are left out."""
        return [entry for entry in self._read().values() if isinstance(entry, LedgerEntry) and entry.state in states]

    def unreadable(self) -> dict[str, StoreError]:
        """Return by id why launches cannot be read. Each of them may run unseen."""
        return {run_id: entry for run_id, entry in self._read().items() if isinstance(entry, StoreError)}

    def _read(self) -> dict[str, LedgerEntry | StoreError]:
        read: dict[str, LedgerEntry | StoreError] = {}
        with self._transaction(write=False) as connection:
            for row in launch_rows(connection, self.path):
                try:
                    read[row["run_id"]] = entry_of(connection, row, self.path)
                except StoreError as error:
                    read[row["run_id"]] = error
        return read

    def events(self, run_id: str) -> list[Event]:
        """Return the events of a launch, in order."""
        with self._transaction(write=False) as connection:
            rows = connection.execute(
                "SELECT at, kind, text FROM events WHERE run_id = ? ORDER BY number", (run_id,)
            ).fetchall()
        return events_of(rows, run_id, self.path)

    def _all(self, connection: sqlite3.Connection) -> list[LedgerEntry]:
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
