"""Managed jobs, which SkyPilot's controller restarts after a spot interruption."""

from __future__ import annotations

import json
from typing import Any

from planner.launcher.backends.sky.phase import UNDER_WAY
from planner.launcher.backends.sky.worker.status import plain, with_reason

JsonObject = dict[str, Any]
LAST_REQUESTS = 200
"""Number of requests in which a launch is looked for until its controller knows the job."""


def look_managed(cluster: str) -> JsonObject:
    """Return the managed job of this name, and the request to launch it while there is no job."""
    jobs = [job for job in managed_jobs(cluster) if job["name"] == cluster]
    newest = max(jobs, key=lambda job: int(job["id"]), default=None)
    return {"job": newest, "launch": _request_for(cluster) if newest is None else None}


def managed_jobs(prefix: str) -> list[JsonObject]:
    """Return the managed jobs whose names start with the prefix; none if no controller works."""
    import sky
    from sky import exceptions, jobs

    try:
        answer = sky.get(jobs.queue_v2(refresh=False, all_users=False))
    except exceptions.ClusterNotUpError as error:
        if _controller_works(error):
            raise
        return []
    return [
        {
            "name": job["job_name"],
            "id": job["job_id"],
            "status": job["status"].value,
            "recoveries": job.get("recovery_count"),
            "reason": plain(str(job.get("failure_reason") or "")),
            "cluster": job.get("current_cluster_name"),
        }
        for job in (answer[0] if isinstance(answer, tuple) else answer)
        if str(job.get("job_name")).startswith(prefix)
    ]


def down_managed(cluster: str) -> bool:
    """End what would still launch the managed job of this name, then cancel it. Its controller takes the machines down.

    Returns whether there was a job.
    """
    import sky
    from sky import exceptions, jobs

    request = _request_for(cluster)
    if request is not None and request["status"] in UNDER_WAY:
        sky.get(sky.api_cancel([request["id"]], silent=True))
    try:
        sky.get(jobs.cancel(name=cluster))
    except exceptions.ClusterNotUpError as error:
        if _controller_works(error):
            raise
        return False
    except ValueError:
        return False
    return True


def _controller_works(error: Any) -> bool:
    """Return whether a controller that does not answer may be at work. It would restart what is ended elsewhere.

    SkyPilot raises the same error if there is no controller and if it is stopped
    (backend_utils.is_controller_accessible of skypilot 0.14.1).
    """
    status = getattr(error.cluster_status, "value", error.cluster_status)
    about_to_come = error.handle is not None and error.handle.head_ip is None
    return status not in (None, "STOPPED") and not about_to_come


def _request_for(cluster: str) -> JsonObject | None:
    """Return the newest request to launch a job of this name. Only its body names the job."""
    import sky

    fields = ["request_id", "name", "status", "created_at", "request_body"]
    asked: list[JsonObject] = [
        {"id": request.request_id, "status": str(request.status), "at": request.created_at}
        for request in sky.api_status(all_status=True, limit=LAST_REQUESTS, fields=fields)
        if request.name.endswith("jobs.launch") and (json.loads(request.request_body) or {}).get("name") == cluster
    ]
    return with_reason(max(asked, key=lambda request: request["at"], default=None))
