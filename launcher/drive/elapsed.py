"""Time since a launch was submitted, by the best available source, and how long it counts as billed.

Within one boot of one machine, the time since that boot counts, because no change of the clock affects it. Another
machine, or the same after a reboot, asks the provider: its current time minus its time of the machine's start (for a
managed job, which starts more than once, minus the submission). Without a provider the local clock counts, never
negative, and after its first look a process counts by its own time.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from planner.launcher.ledger.entry import LedgerEntry
from planner.launcher.plan.backend import ProviderTime
from planner.launcher.plan.instant import Instant

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
        told = self._told(entry, ask, at)
        if told is not None:
            return max(told, by_boot or 0.0)
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


def _age_s(entry: LedgerEntry, told: ProviderTime) -> float | None:
    began = entry.submitted_at if told.started_at is None or entry.launch.target.managed else told.started_at
    return None if told.now is None or began is None else max(0.0, (told.now - began).total_seconds())


def billed_seconds(*, elapsed_s: float, seen_up_s: float | None, worst_s: float) -> float:
    """Return the billed duration of a launch that is proven gone `elapsed_s` after its submission.

    billed = the smaller of elapsed and worst_s, or the last sighting of running machines if that is later

    The proof may come days after the end, when a client returns; the machines' own caps ended them before. A sighting
    of running machines also counts if the elapsed time is unknown (another machine with a wrong clock).
    """
    return max(min(elapsed_s, worst_s), seen_up_s or 0.0)
