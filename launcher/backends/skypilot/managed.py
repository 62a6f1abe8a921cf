"""Managed jobs, which SkyPilot's controller starts again where spot takes their machines."""

from __future__ import annotations

from typing import Any

from launcher.backends.skypilot.logs import plain

JsonObject = dict[str, Any]


def look_managed(cluster: str) -> JsonObject:
    """Return what the controller of managed jobs knows of the job of this name, or nothing."""
    found = [job for job in managed_jobs(cluster) if job["name"] == cluster]
    return {"job": max(found, key=lambda job: int(job["id"]), default=None)}


def managed_jobs(prefix: str) -> list[JsonObject]:
    """Return the managed jobs whose names begin so; none where there is no controller."""
    import sky
    from sky import exceptions, jobs

    try:
        answer = sky.get(jobs.queue_v2(refresh=False, all_users=False))
    except exceptions.ClusterNotUpError:
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
    """Cancel the managed job of this name; its controller takes the machines down. Return whether there was one."""
    import sky
    from sky import exceptions, jobs

    try:
        sky.get(jobs.cancel(name=cluster))
    except (exceptions.ClusterNotUpError, ValueError):
        return False
    return True
