"""Translates SkyPilot's words for requests, clusters and jobs into phases of a launch, and its refusals. Pure."""

from __future__ import annotations

import re
from typing import Any

from planner.errors import RefusedError
from planner.launcher.plan.backend import (
    Launched,
    LaunchPhase,
    NodeStatus,
)
from planner.launcher.plan.sighting import ANYTHING, Sight, Sighting
from planner.model.aws_error import REFUSALS

SAID_CHARACTERS = 800
"""Characters of SkyPilot's own words that are passed on."""
NO_MACHINE = ("ResourcesUnavailableError", "NoCloudAccessError", "ResourcesMismatchError", "InvalidCloudConfigs")
"""SkyPilot's exceptions that mean: the provider supplied no machine."""

SETTING_ERROR = "SettingError"
"""Error that the worker raises if a user's own setting would break a cap (worker/settings.py)."""


def setting_refusal(said: str) -> RefusedError:
    """Return the refusal to launch under such a setting."""
    return RefusedError(
        f"SkyPilot's settings: {said}.",
        fix="Change it in ~/.sky/config.yaml or the project's .sky.yaml, or launch with other settings: "
        "SKYPILOT_GLOBAL_CONFIG=FILE.",
    )


def aws_refusal(said: str) -> tuple[str, str] | None:
    """Return reason and fix if the words name a known refusal by AWS."""
    for code, words in REFUSALS.items():
        if not code.isdigit() and re.search(rf"\b{code}\b", said):
            return words
    return None


def is_refusal(sky_type: str, said: str) -> bool:
    """Return whether a launch failed because no machine was supplied, and not on a machine."""
    return sky_type in NO_MACHINE or aws_refusal(said) is not None


def plain_words(sky_type: str, said: str) -> tuple[str, str]:
    """Return what happened and what to do, in clearer words than SkyPilot's own if we have them."""
    refusal = aws_refusal(said)
    if refusal is not None:
        return f"SkyPilot: {refusal[0]}.", refusal[1]
    short = " ".join(said.split())[:SAID_CHARACTERS].rstrip(".")
    if sky_type == "ResourcesUnavailableError":
        return f"SkyPilot found no such machine: {short}.", "Try another region, spot or another target."
    if sky_type == "NoCloudAccessError":
        return f"SkyPilot may not use this provider: {short}.", "See: sky check"
    return f"SkyPilot failed ({sky_type}): {short}.", ""


UNDER_WAY = ("PENDING", "RUNNING", "WAITING")
"""Words for an open request to SkyPilot's server."""
JOB = {
    "INIT": LaunchPhase.SETTING_UP,
    "PENDING": LaunchPhase.SETTING_UP,
    "SETTING_UP": LaunchPhase.SETTING_UP,
    "RUNNING": LaunchPhase.RUNNING,
    "SUCCEEDED": LaunchPhase.SUCCEEDED,
    "FAILED": LaunchPhase.FAILED,
    "FAILED_DRIVER": LaunchPhase.FAILED,
    "FAILED_SETUP": LaunchPhase.SETUP_FAILED,
    "CANCELLED": LaunchPhase.FAILED,
}
"""Phases by the words for a job on a cluster. The cluster of a cancelled job still stands, and may hold results."""
MANAGED_JOB = {
    "PENDING": LaunchPhase.PENDING,
    "SUBMITTED": LaunchPhase.PENDING,
    "STARTING": LaunchPhase.PENDING,
    "RUNNING": LaunchPhase.RUNNING,
    "WINDING_DOWN": LaunchPhase.RUNNING,
    "RECOVERING": LaunchPhase.PENDING,
    "CANCELLING": LaunchPhase.LOST,
    "CANCELLED": LaunchPhase.LOST,
    "SUCCEEDED": LaunchPhase.SUCCEEDED,
    "FAILED": LaunchPhase.FAILED,
    "FAILED_SETUP": LaunchPhase.SETUP_FAILED,
    "FAILED_PRECHECKS": LaunchPhase.REFUSED,
    "FAILED_NO_RESOURCE": LaunchPhase.REFUSED,
    "FAILED_CONTROLLER": LaunchPhase.LOST,
}
"""Phases by the words for a managed job. The controller takes down the machines of a cancelled one."""

MANAGED_ENDED = tuple(word for word in MANAGED_JOB if word.startswith("FAILED") or word in ("SUCCEEDED", "CANCELLED"))
"""Words for a job that the controller has finished with, including its machines."""


def status_of(seen: dict[str, Any]) -> NodeStatus:
    """Return the phase of a launch from the answer of `look` (worker/status.py).

    The job decides; without one the cluster, and without that the request. A word that this table lacks is UNKNOWN:
    then nothing is taken down and nothing is trusted.
    """
    request, cluster, job = seen["launch"], seen["cluster"], seen["job"]
    launched = None if cluster is None or cluster["launched"] is None else Launched(**cluster["launched"])
    ids = () if cluster is None else tuple(cluster.get("ids", ()))
    if job is not None:
        phase = JOB.get(job["status"], LaunchPhase.UNKNOWN)
        return NodeStatus(phase=phase, detail=f"SkyPilot's job is {job['status']}", launched=launched, ids=ids)
    if request is not None and request["status"] in UNDER_WAY:
        return NodeStatus(
            phase=LaunchPhase.PENDING, detail="SkyPilot is seeking or booting machines", launched=launched, ids=ids
        )
    if request is not None and request["status"] == "FAILED":
        return NodeStatus(phase=_why_failed(request), detail=_detail(request), launched=launched, ids=ids)
    if cluster is not None and cluster["status"] in ("UP", "PENDING"):
        return NodeStatus(
            phase=LaunchPhase.SETTING_UP, detail="the machines are up, without a job yet", launched=launched, ids=ids
        )
    if cluster is not None and cluster["status"] == "INIT":
        detail = "SkyPilot cannot say whether the machines are whole"
        return NodeStatus(phase=LaunchPhase.UNKNOWN, detail=detail, launched=launched, ids=ids)
    detail = "the machines are gone" if cluster is None else f"SkyPilot's cluster is {cluster['status']}"
    return NodeStatus(phase=LaunchPhase.LOST, detail=detail, launched=launched, ids=ids)


def managed_status_of(seen: dict[str, Any]) -> NodeStatus:
    """Return the phase of a managed job from the answer of `look_managed` (worker/managed.py).

    Before there is a job, the request to launch it decides. Without a request there never was a job, or it is
    forgotten.
    """
    job, request = seen["job"], seen["launch"]
    if job is None and request is not None and request["status"] in UNDER_WAY:
        return NodeStatus(
            phase=LaunchPhase.PENDING, detail="SkyPilot is starting the controller of managed jobs, or asks it"
        )
    if job is None and request is not None and request["status"] == "FAILED":
        return NodeStatus(phase=LaunchPhase.REFUSED, detail=_detail(request))
    if job is None:
        return NodeStatus(phase=LaunchPhase.LOST, detail="the controller of managed jobs does not know it")
    detail = f"SkyPilot's managed job is {job['status']}"
    if job["recoveries"]:
        detail += f", recovered {job['recoveries']} time(s)"
    if job["reason"]:
        detail += f": {job['reason'][:300]}"
    return NodeStatus(phase=MANAGED_JOB.get(job["status"], LaunchPhase.UNKNOWN), detail=detail)


def _why_failed(request: dict[str, Any]) -> LaunchPhase:
    error = request["error"]
    return LaunchPhase.REFUSED if is_refusal(error["type"], error["message"]) else LaunchPhase.SETUP_FAILED


def _detail(request: dict[str, Any]) -> str:
    reason, fix = plain_words(request["error"]["type"], request["error"]["message"])
    return f"{reason} {fix}".strip()


def exists_at_provider(seen: Sighting) -> bool:
    """Return whether a sighting is of one known machine that exists."""
    return seen.id != ANYTHING and seen.sight is not Sight.ABSENT


def by_skypilot(*, there: bool) -> tuple[Sighting, ...]:
    """Return the only sighting if just SkyPilot can be asked (Slurm)."""
    return (Sighting(id=ANYTHING, sight=Sight.ALIVE if there else Sight.ABSENT),)


def under_way(seen: dict[str, Any]) -> bool:
    """Return whether SkyPilot still works on a launch."""
    return seen["launch"] is not None and seen["launch"]["status"] in UNDER_WAY


def goes_on(managed: dict[str, Any]) -> bool:
    """Return whether a controller works on a managed job, or will."""
    job = managed["job"]
    return under_way(managed) if job is None else job["status"] not in MANAGED_ENDED
