"""Reads the ledger's rows into objects. A damaged row raises a StoreError that says what to do."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from planner.errors import StoreError
from planner.launcher.ledger.entry import Event, LedgerEntry
from planner.launcher.ledger.ledger_file import STILL_SEEN
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.sighting import KnownMachine


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
