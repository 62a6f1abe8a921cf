"""A watch that goes on where the ledger cannot be written or read: what a client knows by itself, and its deadline."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from planner.errors import PlannerError
from planner.launcher.drive.gone import judge, sightings
from planner.launcher.ledger.entry import Entry, State
from planner.launcher.plan.backend import Backend, Evidence, Phase
from planner.launcher.plan.instant import Instant
from planner.launcher.plan.sighting import Known, observed

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
    _seen: dict[str, Known] = field(default_factory=dict, repr=False)
    """Its machines by their ids, with what was seen of them since the ledger was last read."""
    _over: bool = field(default=False, repr=False)
    """Whether the job was found to be over."""
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
        is said of them is the proof until none can (launcher/drive/gone.py).
        """
        if not self._over:
            phase = Phase.LOST if late else backend.status(self.entry.launch).phase
            self._job_seen |= self.entry.state is State.RUNNING or phase in JOB_SEEN
            if not phase.is_over:
                return
            self.may_come = not (late or self._job_seen)
            with contextlib.suppress(Exception):  # whatever came stays where it is; the machine costs money
                collect(self.entry)
        self.end(backend, at=at)

    def end(self, backend: Backend, *, at: Instant) -> bool:
        """Take it down, and return whether it must be again although nothing is seen: the proof needs time."""
        self._over = True
        self._seen = {one.id: one for one in self.entry.launch.known} | self._seen
        launch = self.entry.launch.model_copy(update={"known": tuple(self._seen.values())})
        asked = False
        try:
            backend.down(launch)
            asked = True
        finally:
            evidence = backend.verify_down(launch)
            if evidence.unknown is None:
                for one in sightings(evidence):
                    self._seen[one.id] = observed(self._seen.get(one.id), one, instant=at, now=datetime.now(tz=UTC))
            verdict = judge(launch, tuple(self._seen.values()), job_seen=not self.may_come, asked=asked)
            self.down = evidence if evidence.down and verdict.gone else None
        return evidence.down and verdict.pending


def fault_text(error: BaseException) -> str:
    """Return what went wrong in a sentence; of what is no error of ours with its kind, which names the fault."""
    return str(error) if isinstance(error, PlannerError) else f"{type(error).__name__}: {error}."
