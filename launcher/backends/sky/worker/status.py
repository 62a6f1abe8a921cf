"""SkyPilot's knowledge of a cluster: the requests that concern it, the cluster itself, its job."""

from __future__ import annotations

import io
import re
from typing import Any


def plain(text: str) -> str:
    """Remove colours and cursor movements from what SkyPilot prints."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


JsonObject = dict[str, Any]
LAST_WORDS = 12
"""Lines of a log that stand in for a reason."""


def look(cluster: str, refresh: bool) -> JsonObject:
    """Return the requests that concern a cluster, the cluster, and its job.

    A cluster that goes down between these questions is reported as gone, or as without a job.
    """
    import sky
    from sky import exceptions

    fields = ["request_id", "name", "status", "error", "created_at", "cluster_name"]
    requests: list[JsonObject] = [
        {"id": request.request_id, "name": request.name, "status": str(request.status), "at": request.created_at}
        for request in sky.api_status(all_status=True, cluster_name=cluster, limit=50, fields=fields)
        if request.cluster_name == cluster
    ]
    launches = [request for request in requests if request["name"].endswith("launch")]
    newest = with_reason(max(launches, key=lambda request: request["at"], default=None))
    record = _record(cluster, refresh=refresh)
    try:
        job = _job(cluster) if record and record["status"] == "UP" else None
    except exceptions.ClusterDoesNotExist:
        record = job = None
    except exceptions.ClusterNotUpError:
        job = None
    return {"launch": newest, "cluster": record, "job": job}


def with_reason(request: JsonObject | None) -> JsonObject | None:
    """Add the reason to a request that failed."""
    if request is not None and request["status"] == "FAILED":
        return {**request, "error": _error_of(request["id"])}
    return request


def clusters(prefixes: list[str]) -> list[JsonObject]:
    """Return SkyPilot's clusters whose names start with one of the prefixes, after asking the clouds."""
    import sky
    from sky.utils import common

    records = sky.get(sky.status(None, refresh=common.StatusRefreshMode.AUTO))
    return [_told(record) for record in records if record["name"].startswith(tuple(prefixes))]


def _record(cluster: str, *, refresh: bool) -> JsonObject | None:
    import sky
    from sky.utils import common

    mode = common.StatusRefreshMode.FORCE if refresh else common.StatusRefreshMode.NONE
    records = sky.get(sky.status([cluster], refresh=mode))
    return _told(records[0]) if records else None


def _told(record: Any) -> JsonObject:
    handle = record["handle"]
    resources = getattr(handle, "launched_resources", None)
    report: JsonObject = {
        "name": record["name"],
        "status": record["status"].value,
        "launched_at": record["launched_at"],
        "autostop_minutes": record["autostop"],
        "to_down": record["to_down"],
        "launched": None,
        "ids": [
            str(instance) for instance in getattr(getattr(handle, "cached_cluster_info", None), "instances", None) or ()
        ],
    }
    if resources is not None and record["cluster_ever_up"]:
        accelerator, count = next(iter((resources.accelerators or {}).items()), (None, None))
        report["launched"] = {
            "instance_type": resources.instance_type,
            "accelerator": accelerator,
            "accelerators_per_node": None if count is None else int(count),
            "nodes": handle.launched_nodes,
            "region": resources.region,
            "spot": resources.use_spot,
            "usd_per_node_hour": _price(resources),
        }
    return report


def _price(resources: Any) -> float | None:
    """Return SkyPilot's price of a node-hour; None if it has none, which SkyPilot reports as 0 or not at all."""
    try:
        usd = float(resources.get_cost(3600))
    except Exception:  # noqa: BLE001  a catalog without a price raises an error of pandas, of sky or of Python
        return None
    return usd if 0 < usd < float("inf") else None


def _job(cluster: str) -> JsonObject | None:
    """Return the newest job of the launch, which has the cluster's name; None before there is one.

    Other jobs on the cluster (`sky exec`) have other names.
    """
    import sky

    jobs = sky.get(sky.queue(cluster, all_users=True))
    if not jobs:
        return None
    ours = [job for job in jobs if job["job_name"] == cluster] or jobs
    newest = max(ours, key=lambda job: job["job_id"])
    return {"id": newest["job_id"], "status": newest["status"].value}


def _error_of(request: str) -> JsonObject:
    """Return why a request failed: asking for its answer raises that.

    Parts of SkyPilot explain in their log and exit, so the end of the request's log stands in for a reason.
    """
    import sky

    log = io.StringIO()
    try:
        sky.stream_and_get(request, output_stream=log)  # type: ignore[call-overload]
    except Exception as error:  # noqa: BLE001  the error is the answer
        return {"type": type(error).__name__, "message": plain(str(error))}
    except SystemExit:
        said = [line for line in plain(log.getvalue()).splitlines() if line.strip()]
        return {"type": "SystemExit", "message": "\n".join(said[-LAST_WORDS:])}
    return {"type": "", "message": ""}
