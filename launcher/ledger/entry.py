"""One launch in the ledger: its state, which states may follow, its outcome, its events."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from planner.launcher.plan.backend import Launch
from planner.launcher.plan.instant import Instant
from planner.launcher.plan.sighting import Said
from planner.model.base import Frozen


class State(StrEnum):
    """How far a launch has come."""

    PLANNED = "PLANNED"
    """Written down; certainly nothing was submitted."""
    SUBMITTED = "SUBMITTED"
    """Handed to the backend, or about to be: there may be machines."""
    RUNNING = "RUNNING"
    """There are machines, and the job has begun."""
    COLLECTED = "COLLECTED"
    """What there was to bring home is home; there may be machines."""
    DOWN_VERIFIED = "DOWN_VERIFIED"
    """The end: those who send the bill say that nothing is left. Only what is seen after that opens it again."""
    LOST = "LOST"
    """An alarm: no result came home, and nobody has confirmed that everything is down."""


class Outcome(StrEnum):
    """What came of a launch, beside the question whether it still runs."""

    COMPLETED = "completed"
    TRUNCATED = "truncated"
    """Stopped before its end; what was measured until then is kept."""
    FAILED = "failed"
    SETUP_FAILED = "setup_failed"
    REFUSED = "refused"
    """The provider gave no machine."""
    MISMATCH = "mismatch"
    """Another machine came than was asked for; it was taken down unread."""
    LOST = "lost"
    CANCELLED = "cancelled"
    NEVER_SUBMITTED = "never_submitted"


LEGAL: dict[State, frozenset[State]] = {
    State.PLANNED: frozenset({State.SUBMITTED, State.DOWN_VERIFIED}),
    State.SUBMITTED: frozenset({State.RUNNING, State.COLLECTED, State.LOST, State.DOWN_VERIFIED}),
    State.RUNNING: frozenset({State.COLLECTED, State.LOST, State.DOWN_VERIFIED}),
    State.COLLECTED: frozenset({State.DOWN_VERIFIED}),
    State.LOST: frozenset({State.COLLECTED, State.DOWN_VERIFIED}),
    State.DOWN_VERIFIED: frozenset({State.LOST}),
}


class Event(Frozen):
    """Something that happened to a launch: a state, or anything worth knowing at night."""

    at: datetime
    kind: str
    text: Said


class Entry(Frozen):
    """One launch as the ledger knows it now."""

    launch: Launch
    state: State
    outcome: Outcome | None
    submitted_at: datetime | None
    ended_at: datetime | None
    """When it was verified that nothing runs any more."""
    record_id: str | None
    """Of the RunRecord made of its results."""
    submitted_instant: Instant | None = None
    """Of the submission, by the boot of the machine that submitted; None in older ledgers."""
    seen_up_s: float | None = None
    """When machines were last seen beyond the time that they may take, in seconds since the submission."""
    counted_s: float | None = None
    """For how long it counts as billed, written with the proof of its end; None in older ledgers."""

    @property
    def open(self) -> bool:
        """Whether something may still run, or has to be done."""
        return self.state is not State.DOWN_VERIFIED

    @property
    def billed_seconds(self) -> float | None:
        """From submission to the proof of the end; None while it is open or where nothing was submitted.

        More than a provider bills, which counts from boot to termination: it errs on the dear side. The rule is that
        of `planner.launcher.drive.elapsed.billed_seconds`; of an older ledger the clock's difference, from 0 to the
        worst case.
        """
        if self.submitted_at is None or self.ended_at is None:
            return None
        if self.counted_s is not None:
            return self.counted_s
        worst_s = self.launch.bill.caps.worst_minutes * 60.0
        return min(max(0.0, (self.ended_at - self.submitted_at).total_seconds()), worst_s)
