"""Submissions in progress: whether machines of a launch may still appear after its client died. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from launcher.ledger.entry import Entry, Event, State

HANDED_OVER = "HANDED_OVER"
"""The event after a submission: the backend has all of it, nothing more will be asked of it."""
REFUSED = "REFUSED"
SUBMISSION_PATIENCE_S = 120.0
"""For which a cancellation waits for a client that is submitting at this moment."""
ORPHAN_GRACE = timedelta(seconds=10)
"""After a submission whose client died in the middle: what it had asked for may still appear."""


def in_submission(entry: Entry, events: Sequence[Event]) -> bool:
    """Return whether a client is submitting, or died while it did."""
    return entry.state is State.SUBMITTED and not any(event.kind in (HANDED_OVER, REFUSED) for event in events)


def may_still_appear(entry: Entry, events: Sequence[Event], *, elapsed_s: float) -> bool:
    """Return whether machines that are not seen yet may still appear, so long after the submission."""
    return elapsed_s < ORPHAN_GRACE.total_seconds() and in_submission(entry, events)
