"""How long ago a launch was submitted, by the best witness there is; and for how long it counts as billed.

One boot of one machine counts by the time since its boot, which no change of the clock moves. Another machine, or the
same after a boot, asks the provider: its own time less its own time of the machine's start (for a managed job, which
starts more than once, less the submission). Where nobody else says, the clock: never less than nothing, and from its
first look on a process counts by its own time.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from planner.launcher.ledger.entry import Entry
from planner.launcher.plan.backend import ProviderTime
from planner.launcher.plan.instant import Instant

CLOCKS_DIFFER_S = 300.0
"""From here on two clocks disagree: what an unset clock drifts in weeks is less."""
ASK_AGAIN_S = 600.0
"""Between two questions to a provider that did not say."""


@dataclass
class Elapsed:
    """What one client knows of the times of launches."""

    now: Callable[[], datetime]
    instant: Callable[[], Instant]
    _bases: dict[str, tuple[float, Instant]] = field(default_factory=dict)
    """Seconds since the submission at an instant of this process, and that instant."""
    _waits: dict[tuple[str, datetime], tuple[float, Instant]] = field(default_factory=dict)
    """The same of a wait; by launch and its written beginning."""
    _asked: dict[str, tuple[float | None, Instant]] = field(default_factory=dict)

    def begin(self, run_id: str) -> Instant:
        """Remember that a launch is submitted now, and return this moment."""
        at = self.instant()
        self._bases[run_id] = (0.0, at)
        return at

    def seconds(self, entry: Entry, ask: Callable[[], ProviderTime]) -> float:
        """Return the seconds since the submission; 0 before it.

        Where the time since the boot and the clock disagree, either the clock was set or this machine stood still
        (a paused virtual machine): then the provider is asked too, and the longer time counts.
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

    def by_clock(self, entry: Entry) -> float:
        """Return the seconds since the submission by this machine's clock, never negative."""
        return 0.0 if entry.submitted_at is None else max(0.0, (self.now() - entry.submitted_at).total_seconds())

    def waited_s(self, run_id: str, began: datetime) -> float:
        """Return for how long results have been waited for; `began` is when another client wrote that it began.

        Where the clock was set back since then nobody knows: then it is without end.
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

    def _told(self, entry: Entry, ask: Callable[[], ProviderTime], at: Instant) -> float | None:
        """Return what the provider says; it is asked once, and again after a while where it did not say."""
        run_id = entry.launch.run_id
        seconds, then = self._asked.get(run_id, (None, None))
        passed = at.since(then)
        if passed is None or (seconds is None and passed >= ASK_AGAIN_S):
            seconds, passed = None, 0.0
            with contextlib.suppress(Exception):  # who cannot be asked says nothing of the time
                seconds = _age_s(entry, ask())
            self._asked[run_id] = (seconds, at)
        return None if seconds is None else seconds + passed


def _age_s(entry: Entry, told: ProviderTime) -> float | None:
    began = entry.submitted_at if told.started_at is None or entry.launch.target.managed else told.started_at
    return None if told.now is None or began is None else max(0.0, (told.now - began).total_seconds())


def billed_seconds(*, elapsed_s: float, seen_up_s: float | None, worst_s: float) -> float:
    """Return for how long a launch counts as billed that is proven gone `elapsed_s` after its submission.

    billed = the smaller of elapsed and worst_s, or until machines were last seen up where that is later

    The proof may come days after the end, when a client comes back; the machines' own caps ended them before. That they
    were seen up counts also where nobody can say how much time has passed (another machine with a wrong clock).
    """
    return max(min(elapsed_s, worst_s), seen_up_s or 0.0)
