"""The one decision whether a launch is gone, by all that was ever seen of its machines. Pure.

Gone means, for every machine by its id: the provider lists it as ended, or does not list it in looks that are spread
over the provider's period of eventual consistency. That nothing carries a label or a name is a proof only where not
every machine was seen by its id, and then too only over that period.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.launcher.drive import submission
from planner.launcher.ledger.entry import Event, Outcome, State
from planner.launcher.plan.backend import Evidence, Launch
from planner.launcher.plan.sighting import ANYTHING, Known, Sight, Sighting
from planner.launcher.plan.target import Provider

ENDING_ALARM_S = 1800.0
"""A machine whose provider has been ending it for longer is stuck, and may still be billed."""
BY_ID = "by id"
BY_ABSENCE = "by absence of the id"
BY_LABEL = "by absence of the label"
BY_HOST = "by the host"
WITNESSES = (BY_ID, BY_ABSENCE, BY_LABEL, BY_HOST)
"""What can prove that a launch is gone, the best first. A launch is proven by the weakest that one machine needs."""


@dataclass(frozen=True)
class Verdict:
    """Whether a launch is gone."""

    gone: bool
    said: str
    """By what it is proven, or what the proof lacks."""
    pending: bool = False
    """Whether nothing but time is lacking: nothing was seen at the last look."""
    stuck: bool = False
    """Whether a provider has been ending a machine for so long that somebody must ask it."""


def sightings(evidence: Evidence) -> tuple[Sighting, ...]:
    """Return what a look said of each id; where nobody knows ids, what it said of the whole launch."""
    whole = Sighting(id=ANYTHING, sight=Sight.ABSENT if evidence.down else Sight.ALIVE)
    return evidence.seen or (whole,)


def job_was_seen(events: Sequence[Event]) -> bool:
    """Return whether the job was seen, so that all machines of the order had come: running, or at its own end."""
    ends = [submission.why_collected(outcome) for outcome in (Outcome.COMPLETED, Outcome.FAILED)]
    return any(
        event.kind == State.RUNNING or (event.kind == submission.COLLECTING and event.text in ends) for event in events
    )


def judge(launch: Launch, known: Sequence[Known], *, job_seen: bool, asked: bool = True) -> Verdict:
    """Return whether a launch is gone.

    `asked`: whether the last request to end it was answered for every id; a refusal makes absence worthless.
    """
    if not launch.target.through_sky:
        return Verdict(gone=True, said=BY_HOST)
    machines = [one for one in known if one.id != ANYTHING]
    whole = next((one for one in known if one.id == ANYTHING), None)
    alive = [one for one in known if one.sight is Sight.ALIVE]
    if alive or whole is None:
        names = ", ".join("what carries its label" if one.id == ANYTHING else one.id for one in alive)
        return Verdict(gone=False, said=f"not ended: {names}" if alive else "nobody was asked yet")
    ending = [one for one in machines if one.sight is Sight.ENDING]
    if ending:
        return _ending(ending)
    absent = [one for one in machines if one.sight is Sight.ABSENT]
    every_id = job_seen and len(machines) >= launch.target.nodes
    waiting = [one for one in absent if one.lasted_s < _period_s(launch)]
    if not every_id and whole.lasted_s < submission.SETTLED_AFTER_S:
        waiting.append(whole)
    if waiting:
        return _waiting(waiting)
    if not asked and (absent or not every_id):
        return Verdict(gone=False, said="not listed, but the request to end it was refused or not answered")
    if not every_id:
        return Verdict(gone=True, said=f"{BY_LABEL}: nothing carries it for {_minutes(whole.lasted_s)}")
    if absent:
        names = ", ".join(f"{one.id} for {_minutes(one.lasted_s)}" for one in absent)
        return Verdict(gone=True, said=f"{BY_ABSENCE}: not listed: {names}")
    return Verdict(gone=True, said=f"{BY_ID}: " + ", ".join(f"{one.id} {one.said}" for one in machines))


def witness_in(text: str) -> str | None:
    """Return by what a launch was proven gone, from the text of its proof in the ledger."""
    proof = text.rpartition("proven ")[2]
    return next((one for one in WITNESSES if proof == one or proof.startswith(f"{one}:")), None)


def _period_s(launch: Launch) -> float:
    """Return for how long an id must be absent: Kubernetes reads its list from a quorum, clouds from copies."""
    consistent = launch.target.provider in (Provider.K8S, Provider.SSH_POOL)
    return 0.0 if consistent else submission.SETTLED_AFTER_S


def _ending(ending: Sequence[Known]) -> Verdict:
    longest_s = max(one.lasted_s for one in ending)
    names = ", ".join(f"{one.id} {one.said} for {_minutes(one.lasted_s)}" for one in ending)
    stuck = longest_s > ENDING_ALARM_S
    advice = ": ask the provider, it may bill it" if stuck else ""
    pending = longest_s < submission.SETTLED_AFTER_S
    return Verdict(gone=False, said=f"not ended yet: {names}{advice}", pending=pending, stuck=stuck)


def _waiting(waiting: Sequence[Known]) -> Verdict:
    minutes = submission.SETTLED_AFTER_S / 60
    names = [one.id for one in waiting if one.id != ANYTHING]
    said = (
        f"{', '.join(names)} is not listed; a list may be behind, so it is looked for {minutes:g} minutes"
        if names
        else f"nothing is there; for {minutes:g} minutes a machine may still come and is looked for"
    )
    return Verdict(gone=False, said=said, pending=True)


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} s"
