"""What everything that drives a launch needs: ledger, backend, folder, time, and whom to tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from planner.errors import StoreError
from planner.launcher.drive.elapsed import Elapsed
from planner.launcher.ledger.entry import Entry
from planner.launcher.ledger.instant import boot_instant
from planner.launcher.ledger.launch_folder import driving_lock, home_of
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.backend import Backend, NodeStatus
from planner.launcher.plan.instant import Instant

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(tz=UTC)


@dataclass(frozen=True)
class DriveContext:
    """Where launches are remembered, who carries them, where results go, the time."""

    ledger: Ledger
    backend: Backend
    folder: Path
    """`launches/` of the workspace; each launch has its own folder there."""
    now: Clock = utc_now
    """For what is written down; nothing is measured by it."""
    instant: Callable[[], Instant] = boot_instant
    watch: Callable[[str, NodeStatus], None] = lambda _run_id, _status: None
    """Gets every status that was seen, for the live view."""
    tell: Callable[[str], None] = lambda _text: None
    """Gets what a person must know at once: that the ledger cannot be written, once a minute."""

    @cached_property
    def elapsed(self) -> Elapsed:
        """What this client knows of times."""
        return Elapsed(self.now, self.instant)

    def elapsed_s(self, entry: Entry) -> float:
        """Return the seconds since the submission, by the best witness."""
        return self.elapsed.seconds(entry, lambda: self.backend.provider_time(entry.launch))

    def is_late(self, entry: Entry) -> bool:
        """Return whether the time is over at which this client takes everything down."""
        return self.elapsed_s(entry) >= entry.launch.bill.caps.watchdog_minutes * 60.0

    def is_overdue(self, entry: Entry) -> bool:
        """Return whether a launch takes longer than its worst case: whoever drives it stands still, and does not."""
        return self.elapsed_s(entry) >= entry.launch.bill.caps.worst_minutes * 60.0

    @contextmanager
    def lock(self, run_id: str, *, needed: bool = False) -> Iterator[bool]:
        """Hold the right to drive a launch; False where another client has it. A client that dies lets go.

        A disk on which no lock can be made keeps nobody from taking machines down, unless one is `needed`.
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
        """Write an event down unless one of the last two says the same: a loop must not fill the ledger.

        Two, because one look may write two: that the end was refused, and that something is still up.
        """
        last = self.ledger.events(run_id)[-2:]
        new = (kind, text) not in [(event.kind, event.text) for event in last]
        if new:
            self.ledger.note(run_id, kind, text, at=self.now())
        return new

    def _home_of(self, run_id: str) -> Path:
        return home_of(self.folder, run_id)
