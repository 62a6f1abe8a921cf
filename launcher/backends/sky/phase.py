"""Translates SkyPilot's words for requests, clusters and jobs into phases of a launch. Pure."""

from __future__ import annotations

from typing import Any

from planner.launcher.backends.sky.refusals import is_refusal, plain_words
from planner.launcher.plan.backend import Launched, NodeStatus, Phase

UNDER_WAY = ("PENDING", "RUNNING", "WAITING")
"""Words for an open request to SkyPilot's server."""
JOB = {
    "INIT": Phase.SETTING_UP,
    "PENDING": Phase.SETTING_UP,
    "SETTING_UP": Phase.SETTING_UP,
    "RUNNING": Phase.RUNNING,
    "SUCCEEDED": Phase.SUCCEEDED,
    "FAILED": Phase.FAILED,
    "FAILED_DRIVER": Phase.FAILED,
    "FAILED_SETUP": Phase.SETUP_FAILED,
    "CANCELLED": Phase.FAILED,
}
MANAGED_JOB = {
    "PENDING": Phase.PENDING,
    "SUBMITTED": Phase.PENDING,
    "STARTING": Phase.PENDING,
    "RUNNING": Phase.RUNNING,
    "WINDING_DOWN": Phase.RUNNING,
    "RECOVERING": Phase.PENDING,
    "CANCELLING": Phase.LOST,
    "CANCELLED": Phase.LOST,
    "SUCCEEDED": Phase.SUCCEEDED,
    "FAILED": Phase.FAILED,
    "FAILED_SETUP": Phase.SETUP_FAILED,
    "FAILED_PRECHECKS": Phase.REFUSED,
    "FAILED_NO_RESOURCE": Phase.REFUSED,
    "FAILED_CONTROLLER": Phase.LOST,
}

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
        phase = JOB.get(job["status"], Phase.UNKNOWN)
        return NodeStatus(phase=phase, detail=f"SkyPilot's job is {job['status']}", launched=launched, ids=ids)
    if request is not None and request["status"] in UNDER_WAY:
        return NodeStatus(
            phase=Phase.PENDING, detail="SkyPilot is seeking or booting machines", launched=launched, ids=ids
        )
    if request is not None and request["status"] == "FAILED":
        return NodeStatus(phase=_why_failed(request), detail=_detail(request), launched=launched, ids=ids)
    if cluster is not None and cluster["status"] in ("UP", "PENDING"):
        return NodeStatus(
            phase=Phase.SETTING_UP, detail="the machines are up, without a job yet", launched=launched, ids=ids
        )
    if cluster is not None and cluster["status"] == "INIT":
        detail = "SkyPilot cannot say whether the machines are whole"
        return NodeStatus(phase=Phase.UNKNOWN, detail=detail, launched=launched, ids=ids)
    detail = "the machines are gone" if cluster is None else f"SkyPilot's cluster is {cluster['status']}"
    return NodeStatus(phase=Phase.LOST, detail=detail, launched=launched, ids=ids)


def managed_status_of(seen: dict[str, Any]) -> NodeStatus:
    """Return the phase of a managed job from the answer of `look_managed` (worker/managed.py).

    Before there is a job, the request to launch it decides. Without a request there never was a job, or it is
    forgotten.
    """
    job, request = seen["job"], seen["launch"]
    if job is None and request is not None and request["status"] in UNDER_WAY:
        return NodeStatus(phase=Phase.PENDING, detail="SkyPilot is starting the controller of managed jobs, or asks it")
    if job is None and request is not None and request["status"] == "FAILED":
        return NodeStatus(phase=Phase.REFUSED, detail=_detail(request))
    if job is None:
        return NodeStatus(phase=Phase.LOST, detail="the controller of managed jobs does not know it")
    detail = f"SkyPilot's managed job is {job['status']}"
    if job["recoveries"]:
        detail += f", recovered {job['recoveries']} time(s)"
    if job["reason"]:
        detail += f": {job['reason'][:300]}"
    return NodeStatus(phase=MANAGED_JOB.get(job["status"], Phase.UNKNOWN), detail=detail)


def _why_failed(request: dict[str, Any]) -> Phase:
    error = request["error"]
    return Phase.REFUSED if is_refusal(error["type"], error["message"]) else Phase.SETUP_FAILED


def _detail(request: dict[str, Any]) -> str:
    reason, fix = plain_words(request["error"]["type"], request["error"]["message"])
    return f"{reason} {fix}".strip()
