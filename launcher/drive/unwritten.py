"""A watch that goes on where the ledger cannot be written or read: what a client knows by itself, and its deadline."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from launcher.drive.submission import is_settled
from launcher.ledger.entry import Entry, State
from launcher.ledger.instant import Instant
from launcher.plan.backend import Backend, Evidence, Phase
from planner.errors import PlannerError

SAID_EVERY_S = 60.0
JOB_SEEN = (Phase.RUNNING, Phase.SUCCEEDED, Phase.FAILED)
"""Of a launch all of whose machines were there."""


@dataclass
class Unwritten:
    """What this client knows of a launch, whatever the ledger says; kept in memory for as long as it watches."""

    entry: Entry
    """As the ledger last told it."""
    handed: bool = False
    """Whether the backend may have been asked for machines since then."""
    deadline_at: datetime | None = None
    """When everything is taken down, by the clock; None before machines were asked for."""
    down: Evidence | None = None
    """The proof that nothing is left, which could not be written."""
    may_come: bool = False
    """Whether machines may still come once it is over: its job was not seen, so not all of them were."""
    _over_at: Instant | None = field(default=None, repr=False)
    """When the job was found to be over."""
    _job_seen: bool = field(default=False, repr=False)
    _said: Instant | None = field(default=None, repr=False)

    @property
    def may_run(self) -> bool:
        """Whether there may be machines."""
        return self.down is None and (self.handed or self.entry.state not in (State.PLANNED, State.DOWN_VERIFIED))

    def say(self, tell: Callable[[str], None], problem: object, *, at: Instant) -> None:
        """Tell the person, at most once a minute, what is wrong and what happens meanwhile."""
        passed = at.since(self._said)
        if passed is not None and passed < SAID_EVERY_S:
            return
        self._said = at
        until = "" if self.deadline_at is None else f"; it is taken down at {self.deadline_at:%H:%M} UTC at the latest"
        with contextlib.suppress(Exception):  # what cannot be printed ends no watch
            tell(f"{self.entry.launch.run_id}: {problem} The launch is watched all the same{until}.")

    def watch(self, backend: Backend, *, late: bool, at: Instant, collect: Callable[[Entry], None]) -> None:
        """Look once, without the ledger; when the job or (`late`) its time is over, it is ended.

        What fails is tried again at the next look. Where no job was seen, machines may still come: then nothing that
        is said of them is the proof until none can (launcher/drive/submission.py).
        """
        if self._over_at is None:
            phase = Phase.LOST if late else backend.status(self.entry.launch).phase
            self._job_seen |= self.entry.state is State.RUNNING or phase in JOB_SEEN
            if not phase.is_over:
                return
            self.may_come = not (late or self._job_seen)
            with contextlib.suppress(Exception):  # whatever came stays where it is; the machine costs money
                collect(self.entry)
        self.end(backend, at=at)

    def end(self, backend: Backend, *, at: Instant) -> bool:
        """Take it down, and return whether it must be again although nothing is there: a machine may still come.

        What is said of it then is no proof yet. Only what SkyPilot orders may come.
        """
        self._over_at = self._over_at or at
        launch = self.entry.launch
        try:
            backend.down(launch)
        finally:
            evidence = backend.verify_down(launch)
            settled = is_settled(at.since(self._over_at) or 0.0)
            settling = self.may_come and launch.target.through_sky and not settled
            self.down = evidence if evidence.down and not settling else None
        return evidence.down and settling


def fault_text(error: BaseException) -> str:
    """Return what went wrong in a sentence; of what is no error of ours with its kind, which names the fault."""
    return str(error) if isinstance(error, PlannerError) else f"{type(error).__name__}: {error}."
