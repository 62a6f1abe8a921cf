"""The ledger and the backend of a client that may die at any step."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.launcher.ledger.entry import State
from planner.launcher.plan.backend import Collected, DownEvidence, Launch, NodeStatus
from planner.launcher.plan.sighting import Sighting
from tests.launcher.simulated.quick_ledger import QuickLedger
from tests.launcher.simulated.skypilot import SimulatedBackend, Sky

if TYPE_CHECKING:
    from tests.launcher.combinations.world import FaultyWorld


class ClientDiedError(BaseException):
    """The client was killed here. No handler of the product catches it."""


class TornLedger(QuickLedger):
    """The product's ledger. It may be unwritable, and the client may die after a change of state."""

    def __init__(self, path: Path, world: FaultyWorld) -> None:
        self._world = world
        super().__init__(path)

    def move(self, run_id: str, to: State, **changes: Any) -> bool:
        moved = super().move(run_id, to, **changes)
        self._world.die_here(to.value)
        return moved

    def _connect(self) -> sqlite3.Connection:
        connection = super()._connect()
        if self._world.unwritable:
            connection.execute("PRAGMA query_only = ON")
        return connection


class MortalBackend(SimulatedBackend):
    """The product's backend. The client may die during each of its verbs."""

    def __init__(self, sky: Sky, place: Path, world: FaultyWorld) -> None:
        super().__init__(sky, place)
        self._world = world

    def submit(self, launch: Launch) -> None:
        with self._world.mortal("submit"):
            super().submit(launch)

    def status(self, launch: Launch) -> NodeStatus:
        with self._world.mortal("status"):
            return super().status(launch)

    def sight(self, launch: Launch) -> tuple[Sighting, ...]:
        with self._world.mortal("sight"):
            return super().sight(launch)

    def collect(self, launch: Launch, into: Path) -> Collected:
        with self._world.mortal("collect"):
            return super().collect(launch, into)

    def down(self, launch: Launch) -> None:
        with self._world.mortal("down"):
            super().down(launch)

    def verify_down(self, launch: Launch) -> DownEvidence:
        with self._world.mortal("verify"):
            return super().verify_down(launch)
