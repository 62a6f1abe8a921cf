"""Submissions that did not end well: whether machines of a launch may still appear after them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from planner.launcher.ledger.entry import Entry, Event, Outcome, State

HANDED_OVER = "HANDED_OVER"
"""The event after a submission: the backend has all of it, nothing more will be asked of it."""
REFUSED = "REFUSED"
SUBMISSION_PATIENCE_S = 120.0
"""For which a cancellation waits for a client that is submitting at this moment."""
ORPHAN_GRACE = timedelta(seconds=10)
"""After a submission whose client died in the middle: what it had asked for may still appear."""
SETTLING = "SETTLING"
"""The event of a launch of which nothing is seen, and of which the proof needs time (launcher/drive/gone.py)."""
SETTLED_AFTER_S = 300.0
"""For which a machine may appear in a provider's list after its order: EC2's list is eventually consistent, and AWS
advises to ask again for up to five minutes (EC2 API reference, "Eventual consistency"); of others nothing is known."""
COLLECTING = "COLLECTING"
"""The event with which bringing results home begins; its text says why."""
SETTLING_SLACK_S = 120.0
"""Beyond the wait for a proof, for looks that take long; then the proof is left to `reap`."""
SEEN_AGAIN = "SEEN_AGAIN"
"""The event of a launch that is open again: something of it was seen after the proof of its end."""


def in_submission(entry: Entry, events: Sequence[Event]) -> bool:
    """Return whether a client is submitting, or died while it did."""
    return entry.state is State.SUBMITTED and not any(event.kind in (HANDED_OVER, REFUSED) for event in events)


def may_still_appear(entry: Entry, events: Sequence[Event], *, elapsed_s: float) -> bool:
    """Return whether machines that are not seen yet may still appear, so long after the submission."""
    return elapsed_s < ORPHAN_GRACE.total_seconds() and in_submission(entry, events)


def why_collected(outcome: Outcome) -> str:
    """Return the text of the event COLLECTING."""
    return f"the job is over: {outcome.value}"


def settle_limit_s() -> float:
    """Return the seconds after which one command no longer waits for a proof that needs nothing but time."""
    return SETTLED_AFTER_S + SETTLING_SLACK_S


def settle_poll_s() -> float:
    """Return the seconds between two looks for a machine that may still come."""
    return SETTLED_AFTER_S / 60
