"""Decides whether a launch is gone, or whether its machines may still appear. Pure.

Gone means, for every machine by its id: the provider lists it as ended, or does not list it in looks spread over the
provider's period of eventual consistency. Absence of a label or a name is a proof only if not every machine was seen by
its id, and only over that same period.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from planner.launcher.ledger.entry import Event, LaunchOutcome, LedgerEntry, State
from planner.launcher.plan.backend import DownEvidence, Launch
from planner.launcher.plan.sighting import ANYTHING, KnownMachine, Sight, Sighting
from planner.launcher.plan.target import LaunchProvider

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


ENDING_ALARM_S = 1800.0
"""Time in seconds after which a machine that its provider is ending counts as stuck. It may still be billed."""
BY_ID = "by id"
BY_ABSENCE = "by absence of the id"
BY_LABEL = "by absence of the label"
BY_HOST = "by the host"
WITNESSES = (BY_ID, BY_ABSENCE, BY_LABEL, BY_HOST)
"""Proofs that a launch is gone, the best first.

A launch is proven by the weakest proof that one of its machines needs.
"""


@dataclass(frozen=True)
class Verdict:
    """Decision on whether a launch is gone."""

    gone: bool
    said: str
    """The proof, or what the proof lacks."""
    pending: bool = False
    """True if only time is lacking: nothing was seen at the last look."""
    stuck: bool = False
    """True if a provider has been ending a machine for so long that someone must ask it."""


def sightings(evidence: DownEvidence) -> tuple[Sighting, ...]:
    """Return the state of each id at one look; without ids, the state of the whole launch."""
    whole = Sighting(id=ANYTHING, sight=Sight.ABSENT if evidence.down else Sight.ALIVE)
    return evidence.seen or (whole,)


def job_was_seen(events: Sequence[Event]) -> bool:
    """Return whether the job was seen running or ended, so that all ordered machines had come."""
    ends = [why_collected(outcome) for outcome in (LaunchOutcome.COMPLETED, LaunchOutcome.FAILED)]
    return any(event.kind == State.RUNNING or (event.kind == COLLECTING and event.text in ends) for event in events)


def judge(launch: Launch, known: Sequence[KnownMachine], *, job_seen: bool, asked: bool = True) -> Verdict:
    """Return whether a launch is gone.

    `asked` says whether the last request to end it was answered for every id. A refusal makes absence worthless.
    """
    if not launch.target.through_sky:
        return Verdict(gone=True, said=BY_HOST)
    machines = [machine for machine in known if machine.id != ANYTHING]
    whole = next((machine for machine in known if machine.id == ANYTHING), None)
    alive = [machine for machine in known if machine.sight is Sight.ALIVE]
    if alive or whole is None:
        names = ", ".join("what carries its label" if machine.id == ANYTHING else machine.id for machine in alive)
        return Verdict(gone=False, said=f"not ended: {names}" if alive else "not asked yet")
    ending = [machine for machine in machines if machine.sight is Sight.ENDING]
    if ending:
        return _ending(ending)
    absent = [machine for machine in machines if machine.sight is Sight.ABSENT]
    every_id = job_seen and len(machines) >= launch.target.nodes
    waiting = [machine for machine in absent if machine.lasted_s < _period_s(launch)]
    if not every_id and whole.lasted_s < SETTLED_AFTER_S:
        waiting.append(whole)
    if waiting:
        return _waiting(waiting)
    if not asked and (absent or not every_id):
        return Verdict(gone=False, said="not listed, but the request to end it was refused or not answered")
    if not every_id:
        return Verdict(gone=True, said=f"{BY_LABEL}: nothing carries it for {_minutes(whole.lasted_s)}")
    if absent:
        names = ", ".join(f"{machine.id} for {_minutes(machine.lasted_s)}" for machine in absent)
        return Verdict(gone=True, said=f"{BY_ABSENCE}: not listed: {names}")
    return Verdict(gone=True, said=f"{BY_ID}: " + ", ".join(f"{machine.id} {machine.said}" for machine in machines))


def witness_in(text: str) -> str | None:
    """Return by which proof a launch was found gone, from the text in the ledger."""
    proof = text.rpartition("proven ")[2]
    return next((witness for witness in WITNESSES if proof == witness or proof.startswith(f"{witness}:")), None)


def _period_s(launch: Launch) -> float:
    """Return how long an id must be absent. Kubernetes reads its list from a quorum, clouds read from copies."""
    consistent = launch.target.provider in (LaunchProvider.K8S, LaunchProvider.SSH_POOL)
    return 0.0 if consistent else SETTLED_AFTER_S


def _ending(ending: Sequence[KnownMachine]) -> Verdict:
    longest_s = max(machine.lasted_s for machine in ending)
    names = ", ".join(f"{machine.id} {machine.said} for {_minutes(machine.lasted_s)}" for machine in ending)
    stuck = longest_s > ENDING_ALARM_S
    advice = ": ask the provider, it may bill it" if stuck else ""
    pending = longest_s < SETTLED_AFTER_S
    return Verdict(gone=False, said=f"not ended yet: {names}{advice}", pending=pending, stuck=stuck)


def _waiting(waiting: Sequence[KnownMachine]) -> Verdict:
    minutes = SETTLED_AFTER_S / 60
    names = [machine.id for machine in waiting if machine.id != ANYTHING]
    said = (
        f"{', '.join(names)} is not listed; a list may be behind, so it is looked for {minutes:g} minutes"
        if names
        else f"nothing is there; for {minutes:g} minutes a machine may still come and is looked for"
    )
    return Verdict(gone=False, said=said, pending=True)


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} s"
