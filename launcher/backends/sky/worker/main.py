"""The process that holds SkyPilot: one question per line in, one answer per line out. Only this package imports sky.

It is a separate process because SkyPilot prints to stdout where our data goes, needs seconds to import, and fixes its
home, its catalogs and its API server at import: a Capacity Block needs others than an ordinary launch.
Questions come on stdin as `{"id": number, "do": name, ...}`. Answers go to a separate descriptor, whose number is the
argument, as `{"id": number, "ok": ...}` or `{"id", "error": {"type", "message"}}`, so that they cannot mix with what
libraries print.
"""

from __future__ import annotations

import io
import json
import os
import queue
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from planner.launcher.backends.sky.worker.managed import down_managed, look_managed, managed_jobs
from planner.launcher.backends.sky.worker.settings import check_settings, dry_run, submit
from planner.launcher.backends.sky.worker.status import clusters, look, plain

ASKED_FOR = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""Pattern of the ids of clients' requests. The server's own housekeeping has names in words."""


def reach(cluster: str) -> list[str]:
    """Write the ssh configuration of the cluster's nodes, as `sky status` does. Return the names to use with ssh."""
    from sky.client.cli import command

    records = command._get_cluster_records_and_set_ssh_config([cluster])
    if not records or records[0]["handle"] is None or not records[0]["handle"].cached_external_ips:
        return []
    nodes = len(records[0]["handle"].cached_external_ips)
    return [cluster, *(f"{cluster}-worker{number}" for number in range(1, nodes))]


def down(cluster: str) -> bool:
    """End what is still being launched, then take the cluster down. Return whether there was one. Never purges."""
    import sky
    from sky import exceptions

    running = [
        request.request_id
        for request in sky.api_status(cluster_name=cluster, fields=["request_id", "name", "status", "cluster_name"])
        if request.cluster_name == cluster and request.name.endswith("launch")
    ]
    if running:
        sky.get(sky.api_cancel(running, silent=True))
    try:
        sky.get(sky.down(cluster))
    except exceptions.ClusterDoesNotExist:
        return False
    return True


def rest() -> bool:
    """End this SkyPilot's API server unless it has work to do. Return whether it was ended.

    Running jobs do not need it, and the next question starts it again. Only the server on this process's own port is
    ended, with its executors.
    """
    import sky
    from sky.client import sdk

    if not sdk._local_api_server_running():
        return False
    active = [request.request_id for request in sky.api_status(fields=["request_id", "name", "status"])]
    if any(re.fullmatch(ASKED_FOR, request) for request in active):
        return False
    return sdk._local_api_server_running(kill=True)


LAST_LINES = 400
"""Lines of a log that are passed on at once."""
LAST_CHARACTERS = 8_000_000


def log(cluster: str, managed: bool) -> str:
    """Return the end of the log of set-up and job, as far as it exists."""
    import sky
    from sky import jobs

    text = io.StringIO()
    if managed:
        job = look_managed(cluster)["job"]  # by id: SkyPilot finds no finished job by its name
        if job is not None:
            jobs.tail_logs(job_id=job["id"], follow=False, output_stream=text)
    else:
        sky.tail_logs(cluster, None, follow=False, tail=LAST_LINES, output_stream=text)
    return _end(text)


def provision_log(cluster: str) -> str:
    """Return the end of the log of finding and booting the machines."""
    from sky.client import sdk

    text = io.StringIO()
    sdk.tail_provision_logs(cluster, follow=False, tail=LAST_LINES, output_stream=text)
    return _end(text)


def _end(text: io.StringIO) -> str:
    """Return the end of what was written. A single line may be longer than an answer can be."""
    whole = text.getvalue()
    return plain(whole[-LAST_CHARACTERS:])


def main() -> None:
    """Answer questions until the client is gone, then end at once. Everything that SkyPilot prints goes to stderr.

    It ends even in the middle of an answer. Otherwise a submission without its client could finish after the next
    client found that there is nothing.
    """
    answers = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8", errors="replace")
    os.set_inheritable(answers.fileno(), False)
    os.dup2(sys.stderr.fileno(), 1)  # for output of C libraries and child processes
    sys.stdout = sys.stderr
    asked = os.fdopen(os.dup(0), encoding="utf-8")
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 0)  # a program under SkyPilot must not read a question
    questions: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(asked, questions), daemon=True).start()
    while True:
        question = json.loads(questions.get())
        number = question.pop("id")
        try:
            answer: dict[str, Any] = {"ok": ANSWERS[question.pop("do")](**question)}
        except Exception as error:  # noqa: BLE001  every SkyPilot exception has to reach the other side
            answer = {"error": {"type": type(error).__name__, "message": plain(str(error))}}
        except SystemExit as error:  # its command-line parts exit when they fail
            answer = {"error": {"type": "SystemExit", "message": f"SkyPilot gave up with code {error.code}"}}
        answers.write(json.dumps({"id": number, **answer}, default=str, ensure_ascii=False) + "\n")
        answers.flush()


def _read(asked: IO[str], questions: queue.Queue[str]) -> None:
    for line in asked:
        questions.put(line)
    os._exit(0)


ANSWERS: dict[str, Callable[..., Any]] = {
    "dry_run": dry_run,
    "check_settings": check_settings,
    "submit": submit,
    "look": look,
    "look_managed": look_managed,
    "log": log,
    "provision_log": provision_log,
    "reach": reach,
    "down": down,
    "down_managed": down_managed,
    "clusters": clusters,
    "managed_jobs": managed_jobs,
    "rest": rest,
}

if __name__ == "__main__":
    main()
