"""Watches a launch without a usable ledger: this client's own knowledge and its deadline."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from planner.errors import PlannerError
from planner.launcher.drive.gone import judge, sightings
from planner.launcher.ledger.entry import LedgerEntry, State
from planner.launcher.plan.backend import Backend, DownEvidence, LaunchPhase
from planner.launcher.plan.instant import Instant
from planner.launcher.plan.sighting import KnownMachine, observed

SAID_EVERY_S = 60.0
JOB_SEEN = (LaunchPhase.RUNNING, LaunchPhase.SUCCEEDED, LaunchPhase.FAILED)
"""Phases in which all machines of a launch had come."""


@dataclass
class Unwritten:
    """State of a launch as this client knows it, without the ledger. It stays in memory while the client watches."""

    entry: LedgerEntry
    """Entry as the ledger last returned it."""
    handed: bool = False
    """True if the backend may have been asked for machines since then."""
    deadline_at: datetime | None = None
    """Clock time at which everything is taken down; None before machines were asked for."""
    down: DownEvidence | None = None
    """Proof that nothing is left, which could not be written down."""
    may_come: bool = False
    """True if machines may still come after the end: the job was not seen, so not all of them were."""
    _seen: dict[str, KnownMachine] = field(default_factory=dict, repr=False)
    """Machines by id, with what was seen since the ledger was last read."""
    _over: bool = field(default=False, repr=False)
    """True if the job was found to be over."""
    _job_seen: bool = field(default=False, repr=False)
    _said: Instant | None = field(default=None, repr=False)

    @property
    def may_run(self) -> bool:
        """True if there may be machines."""
        return self.down is None and (self.handed or self.entry.state not in (State.PLANNED, State.DOWN_VERIFIED))

    def say(self, tell: Callable[[str], None], problem: object, *, at: Instant) -> None:
        """Tell the user, at most once a minute, what is wrong and what happens meanwhile."""
        passed = at.since(self._said)
        if passed is not None and passed < SAID_EVERY_S:
            return
        self._said = at
        until = "" if self.deadline_at is None else f"; it is taken down at {self.deadline_at:%H:%M} UTC at the latest"
        with contextlib.suppress(Exception):  # a message that cannot be printed must not end the watch
            tell(f"{self.entry.launch.run_id}: {problem} The launch is watched all the same{until}.")

    def watch(self, backend: Backend, *, late: bool, at: Instant, collect: Callable[[LedgerEntry], None]) -> None:
        """Look once, without the ledger. End the launch when the job is over or its time is (`late`).

        Failures are retried at the next look. If no job was seen, machines may still come. Then nothing is a proof
        until none can come (launcher/drive/gone.py).
        """
        if not self._over:
            phase = LaunchPhase.LOST if late else backend.status(self.entry.launch).phase
            self._job_seen |= self.entry.state is State.RUNNING or phase in JOB_SEEN
            if not phase.is_over:
                return
            self.may_come = not (late or self._job_seen)
            with contextlib.suppress(Exception):  # results may stay behind, because the machine costs money
                collect(self.entry)
        self.end(backend, at=at)

    def end(self, backend: Backend, *, at: Instant) -> bool:
        """Take the launch down.

        Return whether that must be repeated although nothing is seen, because the proof needs time.
        """
        self._over = True
        self._seen = {machine.id: machine for machine in self.entry.launch.known} | self._seen
        launch = self.entry.launch.model_copy(update={"known": tuple(self._seen.values())})
        asked = False
        try:
            backend.down(launch)
            asked = True
        finally:
            evidence = backend.verify_down(launch)
            if evidence.unknown is None:
                for sighting in sightings(evidence):
                    self._seen[sighting.id] = observed(
                        self._seen.get(sighting.id), sighting, instant=at, now=datetime.now(tz=UTC)
                    )
            verdict = judge(launch, tuple(self._seen.values()), job_seen=not self.may_come, asked=asked)
            self.down = evidence if evidence.down and verdict.gone else None
        return evidence.down and verdict.pending


def fault_text(error: BaseException) -> str:
    """Return the failure in a sentence. An exception that is not ours is named with its type."""
    return str(error) if isinstance(error, PlannerError) else f"{type(error).__name__}: {error}."
