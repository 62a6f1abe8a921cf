"""Compares the ledger with running machines, settles abandoned launches and takes down leftover machines.

A ledger may be damaged, wholly or in one line, or may be new and empty. Machines still carry the label of their launch,
and hosts its id. This proves nothing, because the owner of the machines is not known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from planner.errors import InputError, NotFoundError, PlannerError, StoreError
from planner.launcher.documents import FoundResource
from planner.launcher.drive.unwritten import fault_text
from planner.launcher.ledger.entry import LedgerEntry, State
from planner.launcher.plan.backend import Backend, DownEvidence, Launch, LaunchPhase, Leftover
from planner.launcher.plan.target import Reach
from planner.launcher.plan.task import cluster_name
from planner.use_cases.launching.launch_documents import open_ids
from planner.use_cases.launching.launch_target import read_hosts
from planner.use_cases.launching.launches import Launches

WHERE = {Reach.LOCAL: "local", Reach.SSH: "host", Reach.SKYPILOT: "SkyPilot and the clouds"}


@dataclass(frozen=True)
class Reaped:
    """Machines that were found, launches that could not be settled and may run unseen, and settled launches."""

    found: tuple[FoundResource, ...]
    settled: tuple[LedgerEntry, ...]


def reap(launches: Launches, *, take_down: bool, everywhere: bool = False) -> Reaped:
    """Compare the ledger with running machines, and settle launches that are overdue or lost their client.

    `take_down` ends machines that run although the ledger says that they are gone. Machines that the ledger does not
    know may belong to another workspace; they are reported and never touched. `everywhere` queries SkyPilot and the
    clouds even without a launch there. Every failure, and every launch that is not proven gone, is an alarm and does
    not stop the rest.
    """
    settled: list[LedgerEntry] = []
    ledger_read = _read(launches)
    found = list(ledger_read.found)
    stepped: list[tuple[LedgerEntry, bool]] = []
    for entry in ledger_read.entries:
        if entry.open:
            try:
                stepped.append((entry, launches.driver(entry.launch).step_if_free(entry.launch.run_id)))
            except Exception as error:  # noqa: BLE001  one bad launch must not hide the others
                found.append(_cannot_be_settled(entry.launch, fault_text(error)))
    for entry, done in stepped:  # all did their step already, so their waits for a proof overlap
        try:
            after, alarm = _settle(launches, entry, done=done)
        except Exception as error:  # noqa: BLE001  as above
            found.append(_cannot_be_settled(entry.launch, fault_text(error)))
        else:
            settled.append(after)
            found += [alarm] if alarm is not None else []
    by_id = {entry.launch.run_id: entry for entry in _read(launches).entries}
    known = [entry.launch for entry in by_id.values()]
    for reach in _queries(known, everywhere=everywhere or bool(ledger_read.found)):
        try:
            if reach is Reach.SSH and not read_hosts(launches.home):
                continue
            backend = launches.backend(reach)
            left_over = backend.find_leftovers(known)
        except Exception as error:  # noqa: BLE001  as above
            found.append(_cannot_be_asked(WHERE[reach], fault_text(error)))
        else:
            found += [_judge(launches, left, by_id, backend, take_down=take_down) for left in left_over]
    return Reaped(tuple(found), tuple(settled))


@dataclass(frozen=True)
class _LedgerRead:
    """Readable launches of the ledger, and alarms about unreadable ones."""

    entries: tuple[LedgerEntry, ...]
    found: tuple[FoundResource, ...]
    """Alarms for the whole ledger, or for each unreadable launch."""


def _read(launches: Launches) -> _LedgerRead:
    try:
        entries, unreadable = launches.ledger.entries(), launches.ledger.unreadable()
    except StoreError as error:
        return _LedgerRead((), (_cannot_be_asked("the ledger", fault_text(error)),))
    alarms = [
        FoundResource(
            name=cluster_name(run_id),
            where="the ledger",
            run_id=run_id,
            detail=fault_text(error),
            verdict="cannot be asked",
            alarm=True,
        )
        for run_id, error in unreadable.items()
    ]
    return _LedgerRead(tuple(entries), tuple(alarms))


def _settle(launches: Launches, entry: LedgerEntry, *, done: bool) -> tuple[LedgerEntry, FoundResource | None]:
    """Settle a launch after its step. Return it with an alarm if it may run unseen.

    `done` is False if another client drives it.
    """
    launch = entry.launch
    driver = launches.driver(launch)
    after = launches.see_settled(launch.run_id) if done else launches.settle(launch.run_id)
    if not after.open or not done:
        return after, None
    why = launches.why_open(launch.run_id)
    if after.state in (State.LOST, State.COLLECTED):
        return after, _cannot_be_settled(
            launch, f"{after.state.value}, not proven gone: {why}", verdict="should be gone"
        )
    seen = launches.watch.latest.get(launch.run_id)
    if seen is None or seen.phase is LaunchPhase.UNKNOWN:
        return after, _cannot_be_settled(launch, why or "its state could not be found out")
    other = driver.other_witness(launch.run_id)
    return after, None if other is None else _cannot_be_settled(launch, other)


def _judge(
    launches: Launches, left: Leftover, by_id: Mapping[str, LedgerEntry], backend: Backend, *, take_down: bool
) -> FoundResource:
    entry = by_id.get(left.run_id or "")
    found = partial(FoundResource, name=left.name, where=left.where, run_id=left.run_id, detail=left.detail)
    if left.run_id is None:
        return found(verdict="cannot be asked" if left.alarm else "not asked", alarm=left.alarm)
    if left.part is not None:
        return _judge_part(left, entry, backend, take_down=take_down)
    if entry is None:
        return _unknown(launches, left, backend, take_down=take_down)
    if entry.state in (State.SUBMITTED, State.RUNNING) and not (left.alarm and launches.is_late(entry)):
        return found(verdict="as planned", alarm=False)
    evidence, failed, driver, run_id = None, "", launches.driver(entry.launch), entry.launch.run_id
    try:
        if take_down:
            evidence = driver.end_seen(entry, f"{left.name}, {left.where}: {left.detail}")
            launches.see_settled(run_id)
            launches.ledger.note(run_id, "REAPED", "; ".join(evidence.checks), at=launches.now())
        else:
            driver.reopen(run_id, f"{left.name}, {left.where}: {left.detail}")
    except Exception as error:  # noqa: BLE001  a provider, a fault of the planner, a ledger that cannot be written
        failed = f"; {fault_text(error)}"
    gone = evidence is not None and evidence.down and not failed and not launches.ledger.entry(run_id).open
    return found(detail=left.detail + failed, verdict="should be gone", alarm=not gone, evidence=evidence)


def _judge_part(left: Leftover, entry: LedgerEntry | None, backend: Backend, *, take_down: bool) -> FoundResource:
    """Report a volume, an address or a snapshot. With `take_down`, delete it if its launch is over.

    A part of another workspace's launch is reported without an alarm.
    """
    found = partial(FoundResource, name=left.name, where=left.where, run_id=left.run_id, detail=left.detail)
    if entry is None:
        return found(verdict="not in this ledger", alarm=False)
    if entry.state in (State.PLANNED, State.SUBMITTED, State.RUNNING):
        return found(verdict="as planned", alarm=False)
    said, evidence = "", None
    if take_down:
        try:
            backend.delete_part(left)
            evidence = DownEvidence(down=True, checks=(f"{left.name}: deleted",))
        except Exception as error:  # noqa: BLE001  a provider, a library: the next one is looked at too
            said = f"; {fault_text(error)}"
    return found(detail=left.detail + said, verdict="should be gone", alarm=evidence is None, evidence=evidence)


def _unknown(launches: Launches, left: Leftover, backend: Backend, *, take_down: bool) -> FoundResource:
    """Report a launch that the ledger does not know.

    It belongs to this workspace if its folder is here or the ledger cannot be read completely. Then it is an alarm, and
    it is taken down if its own label says that its time is over.
    """
    assert left.run_id is not None
    is_id = ANY_ID.fullmatch(left.run_id) is not None
    ours = is_id and ((launches.folder / left.run_id).is_dir() or bool(_read(launches).found))
    evidence, failed = None, ""
    if ours and left.alarm and take_down:
        try:
            evidence = backend.down_by_id(left.run_id)
        except Exception as error:  # noqa: BLE001  whatever it raises, the next machine is asked
            failed = f"; {fault_text(error)}"
    gone = evidence is not None and evidence.down
    return FoundResource(
        name=left.name,
        where=left.where,
        run_id=left.run_id,
        detail=left.detail + failed,
        verdict="not in this ledger",
        alarm=(left.alarm or ours) and not gone,
        evidence=evidence,
    )


def _cannot_be_settled(
    launch: Launch, why: str, *, verdict: Literal["cannot be asked", "should be gone"] = "cannot be asked"
) -> FoundResource:
    detail = why if verdict == "should be gone" else f"could not be settled: {why}"
    return FoundResource(
        name=launch.cluster, where=launch.target.id, run_id=launch.run_id, detail=detail, verdict=verdict, alarm=True
    )


def _cannot_be_asked(where: str, why: str) -> FoundResource:
    return FoundResource(name="?", where=where, run_id=None, detail=why, verdict="cannot be asked", alarm=True)


def _queries(known: Sequence[Launch], *, everywhere: bool) -> list[Reach]:
    """Return the ways to query: this machine, hosts, and SkyPilot with the clouds if they were used."""
    wanted = [Reach.LOCAL, Reach.SSH]
    if everywhere or any(launch.target.through_sky for launch in known):
        wanted.append(Reach.SKYPILOT)
    return wanted


MADE_BY_US = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")
"""Pattern of launch ids that launch_plan.py makes."""
ANY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Pattern of ids without `*` and `?`, with which a provider would match other machines too."""
BY_LABEL = "by label and id"


def to_take_down(launches: Launches, run_ids: Sequence[str] | None) -> tuple[list[str], dict[str, PlannerError]]:
    """Return the readable launches, by default the open ones, and the errors of the unreadable ones.

    Raises an error for an unknown launch before anything is taken down.
    """
    if not run_ids:
        try:
            return open_ids(launches.ledger.entries()), dict(launches.ledger.unreadable())
        except StoreError as error:
            fix = "Without it --all names nothing. See what runs: planner launches reap; then: planner launches down ID"
            raise StoreError(error.message, fix=fix) from error
    readable: list[str] = []
    unread: dict[str, PlannerError] = {}
    for run_id in run_ids:
        try:
            launches.ledger.entry(run_id)
            readable.append(run_id)
        except StoreError as error:
            if ANY_ID.fullmatch(run_id) is None:
                raise InputError(f"'{run_id}' is not the id of a launch.", fix="Name it as reap shows it.") from error
            unread[run_id] = error
        except NotFoundError as error:
            if MADE_BY_US.fullmatch(run_id) is None or launches.ledger.entries():
                raise
            unread[run_id] = error  # the ledger is empty: deleted, cut to nothing, or another workspace's
    return readable, unread


def take_down_by_id(launches: Launches, run_ids: Sequence[str]) -> tuple[FoundResource, ...]:
    """End everything with these ids on this machine, on the hosts and in the clouds. Return what was seen then."""
    found = []
    for run_id in run_ids:
        answers = [_ended(launches, reach, run_id) for reach in Reach]
        evidence = DownEvidence(
            down=all(answer.down for answer in answers),
            checks=tuple(check for answer in answers for check in answer.checks),
        )
        found.append(
            FoundResource(
                name=cluster_name(run_id),
                where=BY_LABEL,
                run_id=run_id,
                detail="the ledger does not mention it",
                verdict="should be gone",
                alarm=not evidence.down,
                evidence=evidence,
            )
        )
    return tuple(found)


def _ended(launches: Launches, reach: Reach, run_id: str) -> DownEvidence:
    try:
        if reach is Reach.SSH and not read_hosts(launches.home):
            return DownEvidence(down=True, checks=())
        return launches.backend(reach).down_by_id(run_id)
    except Exception as error:  # noqa: BLE001  one way that fails must not keep the others from being tried
        return DownEvidence(down=False, checks=(f"{reach.value}: {fault_text(error)}",))
