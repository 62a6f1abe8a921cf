"""The only module that imports sky. It runs as a process of its own: a question per line in, an answer per line out.

A process of its own, because SkyPilot prints to stdout where our data goes, needs seconds to import, and fixes its
home, its catalogs and its API server when it is imported: a Capacity Block needs others than an ordinary launch.
Questions are `{"do": name, ...}`; answers are `{"ok": ...}` or `{"error": {"type", "message"}}`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

JsonObject = dict[str, Any]
DRY_RUN = "planner-dry-run"
LAST_LINES = 400
"""Of a log that is passed on at once."""
LAST_WORDS = 12
"""Lines of a log that stand in for a reason."""


def main() -> None:
    """Answer questions until whoever asks is gone, and end at once then. Whatever SkyPilot prints goes to stderr.

    At once, in the middle of an answer too: the next client may already have found that there is nothing, and a
    submission that went on without its client would come after that.
    """
    answers = sys.stdout
    sys.stdout = sys.stderr
    questions: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(questions,), daemon=True).start()
    while True:
        question = json.loads(questions.get())
        try:
            answer: JsonObject = {"ok": ANSWERS[question.pop("do")](**question)}
        except Exception as error:  # noqa: BLE001  whatever SkyPilot raises has to reach the other side
            answer = {"error": {"type": type(error).__name__, "message": _plain(str(error))}}
        except SystemExit as error:  # its command-line parts exit where they fail
            answer = {"error": {"type": "SystemExit", "message": f"SkyPilot gave up with code {error.code}"}}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _read(questions: queue.Queue[str]) -> None:
    for line in sys.stdin:
        questions.put(line)
    os._exit(0)


def dry_run(task: JsonObject, config: list[str]) -> str:
    """Let SkyPilot check and price the launch; return the table that it prints.

    Under a name of its own: SkyPilot's server keeps a dry run as a launch, and ours must not look launched.
    """
    import sky

    with _configured(config):
        request = sky.launch(_task(task), cluster_name=DRY_RUN, dryrun=True)
        shown = io.StringIO()
        sky.stream_and_get(request, output_stream=shown)
    return _plain(shown.getvalue())


def submit(task: JsonObject, cluster: str, config: list[str], managed: bool) -> str:
    """Hand the launch to SkyPilot's server, which goes on by itself; return the id of the request."""
    import sky
    from sky import jobs

    with _configured(config):
        if managed:
            return str(jobs.launch(_task(task), name=cluster))
        return str(sky.launch(_task(task), cluster_name=cluster))


def look(cluster: str, refresh: bool) -> JsonObject:
    """Return what SkyPilot knows of a cluster: requests that concern it, the cluster, its job."""
    import sky

    fields = ["request_id", "name", "status", "error", "created_at", "cluster_name"]
    requests: list[JsonObject] = [
        {"id": one.request_id, "name": one.name, "status": str(one.status), "at": one.created_at}
        for one in sky.api_status(all_status=True, cluster_name=cluster, limit=50, fields=fields)
        if one.cluster_name == cluster
    ]
    launches = [one for one in requests if one["name"].endswith("launch")]
    newest = max(launches, key=lambda one: one["at"], default=None)
    if newest is not None and newest["status"] == "FAILED":
        newest["error"] = _error_of(newest["id"])
    record = _record(cluster, refresh=refresh)
    return {"launch": newest, "cluster": record, "job": _job(cluster) if record and record["status"] == "UP" else None}


def look_managed(cluster: str) -> JsonObject:
    """Return what the controller of managed jobs knows of the job of this name, or nothing."""
    import sky
    from sky import exceptions, jobs

    try:
        answer = sky.get(jobs.queue_v2(refresh=False, all_users=False))
    except exceptions.ClusterNotUpError:
        return {"job": None}
    found = [job for job in (answer[0] if isinstance(answer, tuple) else answer) if job.get("job_name") == cluster]
    if not found:
        return {"job": None}
    newest = max(found, key=lambda job: job["job_id"])
    return {
        "job": {
            "id": newest["job_id"],
            "status": newest["status"].value,
            "recoveries": newest.get("recovery_count"),
            "reason": _plain(str(newest.get("failure_reason") or "")),
            "cluster": newest.get("current_cluster_name"),
        }
    }


def log(cluster: str, managed: bool) -> str:
    """Return the end of the log of set-up and job, as far as it has come."""
    import sky
    from sky import jobs

    text = io.StringIO()
    if managed:
        jobs.tail_logs(name=cluster, follow=False, output_stream=text)
    else:
        sky.tail_logs(cluster, None, follow=False, tail=LAST_LINES, output_stream=text)
    return _plain(text.getvalue())


def provision_log(cluster: str) -> str:
    """Return the end of the log of how the machines were sought and booted."""
    from sky.client import sdk

    text = io.StringIO()
    sdk.tail_provision_logs(cluster, follow=False, tail=LAST_LINES, output_stream=text)
    return _plain(text.getvalue())


def reach(cluster: str) -> list[str]:
    """Write the ssh configuration of the cluster's nodes, as `sky status` does; return the names to use with ssh."""
    from sky.client.cli import command

    records = command._get_cluster_records_and_set_ssh_config([cluster])
    if not records or records[0]["handle"] is None or not records[0]["handle"].cached_external_ips:
        return []
    nodes = len(records[0]["handle"].cached_external_ips)
    return [cluster, *(f"{cluster}-worker{number}" for number in range(1, nodes))]


def down(cluster: str) -> bool:
    """End what is still being launched, then take the cluster down; return whether there was one. Never purges."""
    import sky
    from sky import exceptions

    running = [
        one.request_id
        for one in sky.api_status(cluster_name=cluster, fields=["request_id", "name", "status", "cluster_name"])
        if one.cluster_name == cluster and one.name.endswith("launch")
    ]
    if running:
        sky.get(sky.api_cancel(running, silent=True))
    try:
        sky.get(sky.down(cluster))
    except exceptions.ClusterDoesNotExist:
        return False
    return True


def down_managed(cluster: str) -> bool:
    """Cancel the managed job of this name; its controller takes the machines down. Return whether there was one."""
    import sky
    from sky import exceptions, jobs

    try:
        sky.get(jobs.cancel(name=cluster))
    except (exceptions.ClusterNotUpError, ValueError):
        return False
    return True


def clusters(prefix: str) -> list[JsonObject]:
    """Return SkyPilot's clusters whose names begin so, after asking the clouds."""
    import sky
    from sky.utils import common

    found = sky.get(sky.status(None, refresh=common.StatusRefreshMode.AUTO))
    return [_told(record) for record in found if record["name"].startswith(prefix)]


def _record(cluster: str, *, refresh: bool) -> JsonObject | None:
    import sky
    from sky.utils import common

    mode = common.StatusRefreshMode.FORCE if refresh else common.StatusRefreshMode.NONE
    found = sky.get(sky.status([cluster], refresh=mode))
    return _told(found[0]) if found else None


def _told(record: Any) -> JsonObject:
    handle = record["handle"]
    resources = getattr(handle, "launched_resources", None)
    told: JsonObject = {
        "name": record["name"],
        "status": record["status"].value,
        "launched_at": record["launched_at"],
        "autostop_minutes": record["autostop"],
        "to_down": record["to_down"],
        "launched": None,
    }
    if resources is not None and record["cluster_ever_up"]:
        accelerator, count = next(iter((resources.accelerators or {}).items()), (None, None))
        told["launched"] = {
            "instance_type": resources.instance_type,
            "accelerator": accelerator,
            "accelerators_per_node": None if count is None else int(count),
            "nodes": handle.launched_nodes,
            "region": resources.region,
            "spot": resources.use_spot,
            "usd_per_node_hour": _price(resources),
        }
    return told


def _price(resources: Any) -> float | None:
    """Return SkyPilot's price of a node-hour; None where it has none, which it says with 0 or not at all."""
    try:
        usd = float(resources.get_cost(3600))
    except Exception:  # noqa: BLE001  a catalog without a price is an exception of pandas, of sky or of Python
        return None
    return usd if usd > 0 else None


def _job(cluster: str) -> JsonObject | None:
    """Return the cluster's newest job; None before there is one."""
    import sky

    jobs = sky.get(sky.queue(cluster, all_users=True))
    if not jobs:
        return None
    newest = max(jobs, key=lambda job: job["job_id"])
    return {"id": newest["job_id"], "status": newest["status"].value}


def _error_of(request: str) -> JsonObject:
    """Return why a request failed: asking for its answer raises that.

    Parts of SkyPilot say why in their log and exit, so the end of the request's log stands in for a reason.
    """
    import sky

    log = io.StringIO()
    try:
        sky.stream_and_get(request, output_stream=log)  # type: ignore[call-overload]
    except Exception as error:  # noqa: BLE001  it is the answer
        return {"type": type(error).__name__, "message": _plain(str(error))}
    except SystemExit:
        said = [line for line in _plain(log.getvalue()).splitlines() if line.strip()]
        return {"type": "SystemExit", "message": "\n".join(said[-LAST_WORDS:])}
    return {"type": "", "message": ""}


def _task(config: JsonObject) -> Any:
    import sky

    return sky.Task.from_yaml_config(config)


@contextlib.contextmanager
def _configured(settings: list[str]) -> Iterator[None]:
    """Add `a.b=value` settings to SkyPilot's configuration for one launch; a person's own identities, commands and
    controllers stay.
    """
    from sky import skypilot_config

    settings = [
        one
        for one in settings
        if not any(f".{kept}=" in one for kept in ("remote_identity", "post_provision_runcmd", "autostop"))
        or skypilot_config.get_nested(tuple(one.partition("=")[0].split(".")), None) is None
    ]
    if settings:
        skypilot_config.apply_cli_config(settings)
    try:
        yield
    finally:
        if settings:
            skypilot_config.reload_config()


def _plain(text: str) -> str:
    """Take colours and cursor movements out."""
    import re

    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


ANSWERS: dict[str, Callable[..., Any]] = {
    "dry_run": dry_run,
    "submit": submit,
    "look": look,
    "look_managed": look_managed,
    "log": log,
    "provision_log": provision_log,
    "reach": reach,
    "down": down,
    "down_managed": down_managed,
    "clusters": clusters,
}

if __name__ == "__main__":
    main()
