"""Context that all driving code shares: ledger, backend, folder, clocks, and callbacks to the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from planner.errors import StoreError
from planner.launcher.drive.elapsed import Elapsed
from planner.launcher.ledger.entry import LedgerEntry
from planner.launcher.ledger.instant import boot_instant
from planner.launcher.ledger.launch_folder import driving_lock, home_of
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.backend import Backend, NodeStatus
from planner.launcher.plan.instant import Instant

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(tz=UTC)


@dataclass(frozen=True)
class DriveContext:
    """Ledger, backend, results folder and clocks of the launches to drive."""

    ledger: Ledger
    backend: Backend
    folder: Path
    """Folder `launches/` of the workspace. Each launch has its own folder in it."""
    now: Clock = utc_now
    """Clock for times that are written down. No duration is measured with it."""
    instant: Callable[[], Instant] = boot_instant
    watch: Callable[[str, NodeStatus], None] = lambda _run_id, _status: None
    """Callback for every status seen, for the live view."""
    tell: Callable[[str], None] = lambda _text: None
    """Callback for urgent messages, at most one a minute, such as that the ledger cannot be written."""

    @cached_property
    def elapsed(self) -> Elapsed:
        """Elapsed times, as this client knows them."""
        return Elapsed(self.now, self.instant)

    def elapsed_s(self, entry: LedgerEntry) -> float:
        """Return the seconds since submission, by the best available source."""
        return self.elapsed.seconds(entry, lambda: self.backend.provider_time(entry.launch))

    def is_late(self, entry: LedgerEntry) -> bool:
        """Return whether the time has passed at which this client takes everything down."""
        return self.elapsed_s(entry) >= entry.launch.bill.caps.watchdog_minutes * 60.0

    def is_overdue(self, entry: LedgerEntry) -> bool:
        """Return whether a launch runs longer than its worst case, so its driver has stopped working."""
        return self.elapsed_s(entry) >= entry.launch.bill.caps.worst_minutes * 60.0

    @contextmanager
    def lock(self, run_id: str, *, needed: bool = False) -> Iterator[bool]:
        """Hold the right to drive a launch; yields False if another client has it. The lock ends with its client.

        If the disk allows no lock, machines can still be taken down, unless the lock is `needed`.
        """
        with ExitStack() as stack:
            try:
                mine = stack.enter_context(driving_lock(self._home_of(run_id)))
            except StoreError:
                if needed:
                    raise
                mine = True
            yield mine

    def _note_once(self, run_id: str, kind: str, text: str) -> bool:
        """Write down an event unless one of the last two says the same, so that a loop does not fill the ledger.

        Two are compared because one look may write two: that the end was refused, and that something is still up.
        """
        last = self.ledger.events(run_id)[-2:]
        new = (kind, text) not in [(event.kind, event.text) for event in last]
        if new:
            self.ledger.note(run_id, kind, text, at=self.now())
        return new

    def _home_of(self, run_id: str) -> Path:
        return home_of(self.folder, run_id)
