"""The product's ledger without the wait for the disk."""

from __future__ import annotations

import sqlite3

from planner.launcher.ledger.ledger import Ledger


class QuickLedger(Ledger):
    """A ledger for tests in which nothing loses power."""

    def _connect(self) -> sqlite3.Connection:
        connection = super()._connect()
        connection.execute("PRAGMA synchronous = OFF")
        return connection
