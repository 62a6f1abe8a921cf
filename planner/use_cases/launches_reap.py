"""The ledger compared with what runs: what was left behind is settled, what should be gone is taken down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from launcher.documents import Found
from launcher.ledger.entry import Entry
from launcher.plan.backend import Backend, Launch, Leftover
from launcher.plan.target import Reach
from planner.errors import NodeError, PlannerError
from planner.use_cases.launch_target import read_hosts
from planner.use_cases.launches import Launches

WHERE = {Reach.LOCAL: "local", Reach.SSH: "host", Reach.SKYPILOT: "SkyPilot and the clouds"}


@dataclass(frozen=True)
class Reaped:
    """What runs, what was settled, and the launches that could not be: each of these may run unseen."""

    found: tuple[Found, ...]
    settled: tuple[Entry, ...]


def reap(launches: Launches, *, take_down: bool, everywhere: bool = False) -> Reaped:
    """Compare the ledger with what runs, and settle what is overdue or was left by a client that is gone.

    What the ledger says is over and still runs is taken down where `take_down` is set. What the ledger does not know
    is somebody else's, perhaps another workspace's: it is shown and never touched. `everywhere`: SkyPilot and the
    clouds are asked although the ledger knows of no launch there. What fails is an alarm, and the next is asked.
    """
    entries = launches.ledger.entries()
    settled, machines = [], []
    for entry in entries:
        if entry.open:
            try:
                settled.append(launches.step(entry.launch.run_id))
            except PlannerError as error:
                machines.append(_cannot_be_settled(entry.launch, error))
    by_id = {entry.launch.run_id: entry for entry in launches.ledger.entries()}
    known = [entry.launch for entry in by_id.values()]
    for reach in _asked(launches, known, everywhere=everywhere):
        try:
            backend = launches.backend(reach)
            left_over = backend.find_leftovers(known)
        except PlannerError as error:
            machines.append(_cannot_be_asked(WHERE[reach], error))
        else:
            machines += [_judge(launches, left, by_id, backend, take_down=take_down) for left in left_over]
    return Reaped(tuple(machines), tuple(settled))


def _judge(
    launches: Launches, left: Leftover, by_id: Mapping[str, Entry], backend: Backend, *, take_down: bool
) -> Found:
    entry = by_id.get(left.run_id or "")
    seen = {"name": left.name, "where": left.where, "run_id": left.run_id, "detail": left.detail}
    if left.run_id is None:
        return Found(**seen, verdict="cannot be asked", alarm=left.alarm)
    if entry is None:
        return Found(**seen, verdict="not in this ledger", alarm=left.alarm)
    if entry.open and not (left.alarm and launches.is_late(entry)):
        return Found(**seen, verdict="as planned", alarm=False)
    evidence = None
    if take_down:
        try:
            backend.down(entry.launch)
            evidence = backend.verify_down(entry.launch)
        except NodeError as error:
            return Found(**seen | {"detail": f"{left.detail}; {error}"}, verdict="should be gone", alarm=True)
        launches.ledger.note(entry.launch.run_id, "REAPED", "; ".join(evidence.checks), at=launches.now())
    gone = evidence is not None and evidence.down
    return Found(**seen, verdict="should be gone", alarm=not gone, evidence=evidence)


def _cannot_be_settled(launch: Launch, error: PlannerError) -> Found:
    return Found(
        name=launch.cluster,
        where=launch.target.id,
        run_id=launch.run_id,
        detail=f"could not be settled: {error}",
        verdict="cannot be asked",
        alarm=True,
    )


def _cannot_be_asked(where: str, error: PlannerError) -> Found:
    return Found(name="?", where=where, run_id=None, detail=str(error), verdict="cannot be asked", alarm=True)


def _asked(launches: Launches, known: Sequence[Launch], *, everywhere: bool) -> list[Reach]:
    """Return whom to ask: this machine, hosts where there are any, SkyPilot and the clouds where they were used."""
    wanted = [Reach.LOCAL]
    if read_hosts(launches.home):
        wanted.append(Reach.SSH)
    if everywhere or any(launch.target.through_sky for launch in known):
        wanted.append(Reach.SKYPILOT)
    return wanted
