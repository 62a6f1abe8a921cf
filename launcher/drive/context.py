"""Context that all driving code shares, and the time since a launch was submitted.

Within one boot of one machine, the time since that boot counts, because no change of the clock affects it. Another
machine, or the same after a reboot, asks the provider: its current time minus its time of the machine's start (for a
managed job, which starts more than once, minus the submission). Without a provider the local clock counts, never
negative, and after its first look a process counts by its own time.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from planner.errors import StoreError
from planner.launcher.ledger.entry import LedgerEntry
from planner.launcher.ledger.launch_folder import driving_lock, home_of
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.backend import Backend, NodeStatus, ProviderTime
from planner.launcher.plan.instant import Instant, boot_instant

CLOCKS_DIFFER_S = 300.0
"""Difference at which two clocks disagree. An unset clock drifts less than this in weeks."""
ASK_AGAIN_S = 600.0
"""Seconds between two questions to a provider that gave no answer."""


@dataclass
class Elapsed:
    """One client's knowledge of the launches' times."""

    now: Callable[[], datetime]
    instant: Callable[[], Instant]
    _bases: dict[str, tuple[float, Instant]] = field(default_factory=dict)
    """Seconds since submission at an instant of this process, with that instant."""
    _waits: dict[tuple[str, datetime], tuple[float, Instant]] = field(default_factory=dict)
    """Seconds waited at an instant of this process, by launch and the recorded start of the wait."""
    _asked: dict[str, tuple[float | None, Instant]] = field(default_factory=dict)

    def begin(self, run_id: str) -> Instant:
        """Remember that a launch is submitted now, and return this moment."""
        at = self.instant()
        self._bases[run_id] = (0.0, at)
        return at

    def seconds(self, entry: LedgerEntry, ask: Callable[[], ProviderTime]) -> float:
        """Return the seconds since submission; 0 before it.

        If the time since boot and the clock disagree, either the clock was set or this machine was paused (a virtual
        machine). Then the provider is asked too, and the longer time counts.
        """
        run_id, at = entry.launch.run_id, self.instant()
        by_boot = at.since(entry.submitted_instant)
        if by_boot is None and run_id in self._bases and entry.submitted_at is None:
            return self._since_base(run_id, at)  # the submission could not be written down
        by_clock = self.by_clock(entry)
        if by_boot is not None and abs(by_clock - by_boot) < CLOCKS_DIFFER_S:
            return by_boot
        provider_time = self._told(entry, ask, at)
        if provider_time is not None:
            return max(provider_time, by_boot or 0.0)
        if by_boot is not None:
            return by_boot
        self._bases.setdefault(run_id, (by_clock, at))
        return self._since_base(run_id, at)

    def by_clock(self, entry: LedgerEntry) -> float:
        """Return the seconds since submission by this machine's clock, never negative."""
        return 0.0 if entry.submitted_at is None else max(0.0, (self.now() - entry.submitted_at).total_seconds())

    def waited_s(self, run_id: str, began: datetime) -> float:
        """Return how long results have been waited for. `began` is the start that another client wrote down.

        Returns infinity if the clock was set back since then, because the duration is unknown.
        """
        at, key = self.instant(), (run_id, began)
        if key not in self._waits:
            written_s = (self.now() - began).total_seconds()
            self._waits[key] = (math.inf if written_s < -CLOCKS_DIFFER_S else max(0.0, written_s), at)
        seconds, then = self._waits[key]
        return seconds + (at.since(then) or 0.0)

    def _since_base(self, run_id: str, at: Instant) -> float:
        seconds, then = self._bases[run_id]
        return seconds + (at.since(then) or 0.0)

    def _told(self, entry: LedgerEntry, ask: Callable[[], ProviderTime], at: Instant) -> float | None:
        """Return the provider's answer. It is asked once, and again after a while if it gave none."""
        run_id = entry.launch.run_id
        seconds, then = self._asked.get(run_id, (None, None))
        passed = at.since(then)
        if passed is None or (seconds is None and passed >= ASK_AGAIN_S):
            seconds, passed = None, 0.0
            with contextlib.suppress(Exception):  # without an answer the time stays unknown
                seconds = _age_s(entry, ask())
            self._asked[run_id] = (seconds, at)
        return None if seconds is None else seconds + passed


def _age_s(entry: LedgerEntry, provider_time: ProviderTime) -> float | None:
    began = (
        entry.submitted_at
        if provider_time.started_at is None or entry.launch.target.managed
        else provider_time.started_at
    )
    return None if provider_time.now is None or began is None else max(0.0, (provider_time.now - began).total_seconds())


def billed_seconds(*, elapsed_s: float, seen_up_s: float | None, worst_s: float) -> float:
    """Return the billed duration of a launch that is proven gone `elapsed_s` after its submission.

    billed = the smaller of elapsed and worst_s, or the last sighting of running machines if that is later

    The proof may come days after the end, when a client returns; the machines' own caps ended them before. A sighting
    of running machines also counts if the elapsed time is unknown (another machine with a wrong clock).
    """
    return max(min(elapsed_s, worst_s), seen_up_s or 0.0)


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
                is_locked = stack.enter_context(driving_lock(self._home_of(run_id)))
            except StoreError:
                if needed:
                    raise
                is_locked = True
            yield is_locked

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
