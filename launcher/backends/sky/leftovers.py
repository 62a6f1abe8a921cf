"""Leftovers as the user sees them: a SkyPilot cluster or a cloud's machine, and when they raise an alarm."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from planner.errors import NodeError
from planner.launcher.backends.sky.phase import MANAGED_ENDED
from planner.launcher.backends.sky.process import SkyProcess
from planner.launcher.cloud.aws_storage import StorageAnswer
from planner.launcher.cloud.machine import ListedMachine
from planner.launcher.cloud.provider_machines import ProviderAnswer
from planner.launcher.plan.backend import Launch, Leftover

CLUSTER_PREFIX = "pl-"
CONTROLLER_PREFIX = "sky-jobs-controller-"
"""Name prefix of SkyPilot's machine that watches managed jobs.

It stops when idle, keeps its disk, and is in no launch's bill.
"""
AUTOSTOP_PATIENCE = timedelta(minutes=10)
"""Time after which a machine that shuts itself down probably may not terminate itself."""


def cluster_leftover(cluster: dict[str, Any], launch: Launch | None, *, where: str, now: datetime) -> Leftover:
    """Return the leftover of a cluster in SkyPilot's list. `launch` is the ledger's, if it has one."""
    detail = f"{cluster['status']}{_age(cluster['launched_at'], now)}"
    stuck = cluster["status"] == "AUTOSTOPPING" and _overdue(launch, now)
    minutes = cluster["autostop_minutes"]
    if not isinstance(minutes, int) or minutes < 0 or not cluster["to_down"]:
        detail += "; it does not take itself down"
    return Leftover(
        name=cluster["name"],
        where=where,
        run_id=cluster["name"].removeprefix(CLUSTER_PREFIX) if launch is None else launch.run_id,
        detail=detail + ("; stuck while shutting itself down" if stuck else ""),
        alarm=stuck or _overdue(launch, now),
    )


def job_leftover(job: dict[str, Any], launch: Launch | None, *, where: str, now: datetime) -> Leftover:
    """Return the leftover of a managed job that is not over."""
    late = _overdue(launch, now)
    return Leftover(
        name=job["name"],
        where=f"{where}, managed jobs",
        run_id=job["name"].removeprefix(CLUSTER_PREFIX),
        detail=job["status"] + ("; its time is over" if late else ""),
        alarm=late,
    )


def silent(who: str) -> Leftover:
    """Return the leftover that stands for a cloud, or a SkyPilot, that cannot be asked."""
    return Leftover(name="?", where=who, run_id=None, detail="could not be asked", alarm=True)


def answer_leftovers(answer: ProviderAnswer, *, now: datetime) -> list[Leftover]:
    """Return the leftovers in a provider's answer: running machines, and the reason why it was not asked."""
    found = [machine_leftover(machine, now=now) for machine in answer.machines if machine.alive]
    if answer.problem is not None:
        found.append(silent(f"{answer.where}: {answer.problem}"))
    if answer.no_credentials:
        found.append(Leftover(name="-", where=answer.where, run_id=None, detail="not asked: no credentials"))
    return found


def storage_leftovers(answer: StorageAnswer) -> list[Leftover]:
    """Return the resources that machines left in a region.

    A policy that forbids looking is reported without an alarm.
    """
    where = f"EC2 in {answer.where}"
    if answer.forbidden:
        detail = f"volumes, addresses and snapshots were not asked for: {answer.problem}"
        return [Leftover(name="-", where=where, run_id=None, detail=detail)]
    if answer.problem is not None:
        return [silent(f"{where}, volumes: {answer.problem}")]
    return [
        Leftover(
            name=stored.id,
            where=answer.where,
            run_id=stored.run_id,
            detail=stored.detail + ("" if stored.labelled else "; without our label: delete it by hand if it is yours"),
            alarm=True,
            part=f"{stored.kind} {stored.id}",
            deletable=stored.labelled,
        )
        for stored in answer.stored
    ]


def _overdue(launch: Launch | None, now: datetime) -> bool:
    return launch is not None and launch.deadline_at is not None and now - launch.deadline_at > AUTOSTOP_PATIENCE


def _age(launched_at: object, now: datetime) -> str:
    """Return how long ago SkyPilot launched a cluster by this machine's clock; empty if that is implausible."""
    try:
        minutes = (now - datetime.fromtimestamp(launched_at, tz=UTC)).total_seconds() / 60  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
    return f", launched {round(minutes)} minutes ago" if minutes >= 0 else ""


def machine_leftover(machine: ListedMachine, *, now: datetime) -> Leftover:
    """Return the leftover of a machine in a cloud's list. It is late by the cloud's own clock if that is known."""
    late = machine.expires_at is not None and machine.expires_at < (machine.seen_at or now)
    detail = f"{machine.state} {machine.instance_type or ''}".strip()
    return Leftover(
        name=machine.name,
        where=machine.where,
        run_id=machine.run_id,
        detail=detail + (f", should have been gone at {machine.expires_at:%Y-%m-%d %H:%M} UTC" if late else ""),
        alarm=late,
    )


def listed_by_skypilot(
    processes: Iterable[tuple[SkyProcess, str]], known: Collection[Launch], *, now: datetime
) -> list[Leftover]:
    """Return SkyPilot's clusters and managed jobs with our names. A process that cannot be asked is one itself."""
    own = {launch.cluster: launch for launch in known}
    managed = any(launch.target.managed for launch in known)
    leftovers = []
    for process, where in processes:
        try:
            listed = process.ask("clusters", prefixes=[CLUSTER_PREFIX, *([CONTROLLER_PREFIX] if managed else [])])
            jobs = process.ask("managed_jobs", prefix=CLUSTER_PREFIX) if managed else []
        except NodeError as error:
            leftovers.append(silent(f"{where}: {error.message}"))
            continue
        leftovers += [
            cluster_leftover(cluster, _owner(cluster["name"], own), where=where, now=now) for cluster in listed
        ]
        leftovers += [
            job_leftover(job, own.get(job["name"]), where=where, now=now)
            for job in jobs
            if job["status"] not in MANAGED_ENDED
        ]
    return leftovers


def _owner(name: str, own: dict[str, Launch]) -> Launch | None:
    """Return the launch of a cluster. A managed job's cluster is called `<its name>-<number>`."""
    launch = own.get(name)
    if launch is None and (managed := own.get(name.rpartition("-")[0])) is not None and managed.target.managed:
        return managed
    return launch
