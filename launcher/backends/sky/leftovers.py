"""Leftovers as the user sees them - a cluster of SkyPilot, a machine of a cloud - and when they raise an alarm."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from planner.launcher.cloud.aws_storage import StorageAnswer
from planner.launcher.cloud.machine import Machine
from planner.launcher.cloud.provider_machines import Answer
from planner.launcher.plan.backend import Launch, Leftover

CLUSTER_PREFIX = "pl-"
CONTROLLER_PREFIX = "sky-jobs-controller-"
"""SkyPilot's machine that watches managed jobs: it stops when idle, keeps its disk, and is in no launch's bill."""
AUTOSTOP_PATIENCE = timedelta(minutes=10)
"""A machine that has been shutting itself down for longer probably may not terminate itself."""


def cluster_leftover(cluster: dict[str, Any], launch: Launch | None, *, where: str, now: datetime) -> Leftover:
    """Return the leftover of a cluster in SkyPilot's list; `launch` is the ledger's, where it has one."""
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
    """Return the leftover of a cloud, or a SkyPilot, that cannot be asked, and why."""
    return Leftover(name="?", where=who, run_id=None, detail="could not be asked", alarm=True)


def answer_leftovers(answer: Answer, *, now: datetime) -> list[Leftover]:
    """Return the leftovers of a provider's answer: machines that live, and that it could not be asked or was not."""
    found = [machine_leftover(machine, now=now) for machine in answer.machines if machine.alive]
    if answer.problem is not None:
        found.append(silent(f"{answer.where}: {answer.problem}"))
    if answer.no_credentials:
        found.append(Leftover(name="-", where=answer.where, run_id=None, detail="not asked: no credentials"))
    return found


def storage_leftovers(answer: StorageAnswer) -> list[Leftover]:
    """Return what machines left in a region; that its policy forbids to look is said and is no alarm."""
    where = f"EC2 in {answer.where}"
    if answer.forbidden:
        detail = f"volumes, addresses and snapshots were not asked for: {answer.problem}"
        return [Leftover(name="-", where=where, run_id=None, detail=detail)]
    if answer.problem is not None:
        return [silent(f"{where}, volumes: {answer.problem}")]
    return [
        Leftover(
            name=one.id,
            where=answer.where,
            run_id=one.run_id,
            detail=one.detail + ("" if one.labelled else "; without our label: delete it by hand if it is yours"),
            alarm=True,
            part=f"{one.kind} {one.id}",
            deletable=one.labelled,
        )
        for one in answer.stored
    ]


def _overdue(launch: Launch | None, now: datetime) -> bool:
    return launch is not None and launch.deadline_at is not None and now - launch.deadline_at > AUTOSTOP_PATIENCE


def _age(launched_at: object, now: datetime) -> str:
    """Return how long ago SkyPilot launched a cluster, by the clock of this machine; nothing where that is odd."""
    try:
        minutes = (now - datetime.fromtimestamp(launched_at, tz=UTC)).total_seconds() / 60  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
    return f", launched {round(minutes)} minutes ago" if minutes >= 0 else ""


def machine_leftover(machine: Machine, *, now: datetime) -> Leftover:
    """Return the leftover of a machine in a cloud's list; late by the cloud's own clock where it says the time."""
    late = machine.expires_at is not None and machine.expires_at < (machine.seen_at or now)
    detail = f"{machine.state} {machine.instance_type or ''}".strip()
    return Leftover(
        name=machine.name,
        where=machine.where,
        run_id=machine.run_id,
        detail=detail + (f", should have been gone at {machine.expires_at:%Y-%m-%d %H:%M} UTC" if late else ""),
        alarm=late,
    )
