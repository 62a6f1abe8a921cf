"""One launch in the ledger: its state, allowed transitions, outcome and events."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from planner.launcher.plan.backend import Launch
from planner.launcher.plan.instant import Instant
from planner.launcher.plan.sighting import Said
from planner.model.base import Frozen


class State(StrEnum):
    """Progress of a launch."""

    PLANNED = "PLANNED"
    """Written down; certainly not submitted."""
    SUBMITTED = "SUBMITTED"
    """Handed to the backend, or about to be. Machines may exist."""
    RUNNING = "RUNNING"
    """Machines exist and the job has begun."""
    COLLECTED = "COLLECTED"
    """All available results were copied home. Machines may still exist."""
    DOWN_VERIFIED = "DOWN_VERIFIED"
    """The end: the party that sends the bill says that nothing is left.

    Only a later sighting opens the launch again.
    """
    LOST = "LOST"
    """An alarm: no result came home, and it is not confirmed that everything is down."""


class LaunchOutcome(StrEnum):
    """Outcome of a launch, independent of whether it still runs."""

    COMPLETED = "completed"
    TRUNCATED = "truncated"
    """Stopped early; the measurements until then are kept."""
    FAILED = "failed"
    SETUP_FAILED = "setup_failed"
    REFUSED = "refused"
    """The provider supplied no machine."""
    MISMATCH = "mismatch"
    """Another machine was supplied than ordered. It was taken down without reading results."""
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
    """An event of a launch: a change of state, or anything else worth recording."""

    at: datetime
    kind: str
    text: Said


class LedgerEntry(Frozen):
    """One launch, as the ledger has it now."""

    launch: Launch
    state: State
    outcome: LaunchOutcome | None
    submitted_at: datetime | None
    ended_at: datetime | None
    """Time when it was verified that nothing runs any more."""
    record_id: str | None
    """Id of the RunRecord made from its results."""
    submitted_instant: Instant | None = None
    """Moment of submission by the submitting machine's boot; None in older ledgers."""
    seen_up_s: float | None = None
    """Latest sighting of machines beyond their allowed time, in seconds since submission."""
    counted_s: float | None = None
    """Billed duration, written together with the proof of the end; None in older ledgers."""

    @property
    def open(self) -> bool:
        """True if machines may still run or work remains."""
        return self.state is not State.DOWN_VERIFIED

    @property
    def billed_seconds(self) -> float | None:
        """Seconds from submission to the proof of the end; None while open or if nothing was submitted.

        This is more than a provider bills, which counts from boot to termination, so it errs on the expensive side. The
        rule is that of `planner.launcher.drive.context.billed_seconds`. For an older ledger it is the clock's
        difference, limited to the worst case.
        """
        if self.submitted_at is None or self.ended_at is None:
            return None
        if self.counted_s is not None:
            return self.counted_s
        worst_s = self.launch.bill.caps.worst_minutes * 60.0
        return min(max(0.0, (self.ended_at - self.submitted_at).total_seconds()), worst_s)
