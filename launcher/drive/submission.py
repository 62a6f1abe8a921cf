"""Interrupted submissions: decides whether machines of a launch may still appear. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from planner.launcher.ledger.entry import Event, LaunchOutcome, LedgerEntry, State

HANDED_OVER = "HANDED_OVER"
"""Event after a submission: the backend has everything, and no further request follows."""
REFUSED = "REFUSED"
SUBMISSION_PATIENCE_S = 120.0
"""Time that a cancellation waits for a client that is submitting at this moment."""
ORPHAN_GRACE = timedelta(seconds=10)
"""Time after the submission of a client that died midway. Machines that it asked for may still appear."""
SETTLING = "SETTLING"
"""Event of a launch of which nothing is seen and whose proof needs time (launcher/drive/gone.py)."""
SETTLED_AFTER_S = 300.0
"""Time within which a machine may appear in a provider's list after its order.

EC2's list is eventually consistent, and AWS advises to retry for up to five minutes (EC2 API reference, "Eventual
consistency"). Other providers do not state a time.
"""
COLLECTING = "COLLECTING"
"""Event at which copying results home begins. Its text says why."""
SETTLING_SLACK_S = 120.0
"""Time beyond the wait for a proof, for slow looks. After it, the proof is left to `reap`."""
SEEN_AGAIN = "SEEN_AGAIN"
"""Event of a launch that is open again: something of it was seen after the proof of its end."""


def in_submission(entry: LedgerEntry, events: Sequence[Event]) -> bool:
    """Return whether a client is submitting, or died while it did."""
    return entry.state is State.SUBMITTED and not any(event.kind in (HANDED_OVER, REFUSED) for event in events)


def may_still_appear(entry: LedgerEntry, events: Sequence[Event], *, elapsed_s: float) -> bool:
    """Return whether unseen machines may still appear this long after the submission."""
    return elapsed_s < ORPHAN_GRACE.total_seconds() and in_submission(entry, events)


def why_collected(outcome: LaunchOutcome) -> str:
    """Return the text of the event COLLECTING."""
    return f"the job is over: {outcome.value}"


def settle_limit_s() -> float:
    """Return the seconds after which one command stops waiting for a proof that needs only time."""
    return SETTLED_AFTER_S + SETTLING_SLACK_S


def settle_poll_s() -> float:
    """Return the seconds between two looks for a machine that may still come."""
    return SETTLED_AFTER_S / 60
