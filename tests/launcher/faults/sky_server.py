"""SkyPilot's server as the fault table needs it: it boots machines in fake clouds, keeps SkyPilot's lists, and lies.

It lives in the test's process, so it goes on when clients die, as SkyPilot's does. `instead` says what a question gets
instead of its answer (see `Instead`); `boot` says what comes of a submission.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

JsonObject = dict[str, Any]
GPUS = {"p4d.24xlarge": ("A100", 8), "gpu_8x_h100_sxm5": ("H100", 8), "p5.48xlarge": ("H100", 8)}


@dataclass(frozen=True)
class Instead:
    """Reply to a question instead of its answer."""

    error: tuple[str, str] | None = None
    """SkyPilot's exception and its words."""
    worker: JsonObject = field(default_factory=dict)
    """Act of the worker process: print, end, hang."""
    answer: Any = None
    done: bool = False
    """True if what was asked is carried out all the same."""
    times: int = 10**6


@dataclass
class Boot:
    """Outcome of a submission."""

    fails: tuple[str, str] | None = None
    """The error of the request, SkyPilot's exception and its words."""
    machine: bool = True
    """True if a machine boots (also where the request fails)."""
    after: int = 0
    """Number of questions before the machine comes; 0: at once."""
    region: str | None = None
    instance_type: str | None = None
    labelled: bool = True
    named: bool = True
    """True if it carries SkyPilot's own tags."""
    ids: bool = True
    """True if SkyPilot's record of the cluster names its machines by their ids."""
    autostop: bool = True
    job: str = "SUCCEEDED"
    """Outcome of the job, once it has been seen running."""
    results: bool = True
    sentinel: bool = True


class Clouds(Protocol):
    """Start and end machines."""

    def start(
        self,
        cloud: str,
        kind: str,
        *,
        region: str,
        cluster: str,
        labels: Mapping[str, str],
        settings: list[str],
        autostop: bool,
        named: bool = True,
    ) -> str:
        """Start a machine; return its id."""

    def end(self, machine_id: str) -> None:
        """End it."""

    def gone(self, machine_id: str) -> bool:
        """Return whether it is not billed any more."""

    def leave_results(self, run_id: str) -> None:
        """Put the job's results where its node would."""


class RequestFailedError(Exception):
    """A request that failed: SkyPilot's exception and its words."""


class SkyServer:
    """The lists of SkyPilot; one row of the table at a time."""

    clouds: Clouds
    """The clouds in which it boots machines; set by the fixture."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.ssh_config = ""
        self.requests: list[JsonObject] = []
        self.clusters: dict[str, JsonObject] = {}
        self.instead: dict[str, Instead] = {}
        self.boot = Boot()
        self.waiting: list[tuple[int, Callable[[], None]]] = []
        """Machines that come later, and at which question."""
        self.meanwhile: dict[str, Callable[[], object]] = {}
        """Act to perform once, before a question is answered."""
        self.asked: list[str] = []

    def answer(self, do: str, question: JsonObject) -> JsonObject:
        """Answer a question of the worker."""
        with self.lock:
            self.asked.append(do)
            self._boot_what_is_due()
            if do in self.meanwhile:
                self.meanwhile.pop(do)()
            instead = self.instead.get(do)
            if instead is None or instead.times <= 0:
                return self._honest(do, question)
            self.instead[do] = Instead(**{**vars(instead), "times": instead.times - 1})
            honest = self._honest(do, question) if instead.done else {}
            if instead.error is not None:
                return {"error": instead.error, "worker": instead.worker}
            if instead.answer is not None:
                return {"ok": instead.answer, "worker": instead.worker}
            return (honest or self._honest(do, question)) | {"worker": instead.worker}

    def _honest(self, do: str, question: JsonObject) -> JsonObject:
        try:
            return {"ok": getattr(self, f"do_{do}")(**question)}
        except KeyError as error:
            return {"error": ("ClusterDoesNotExist", str(error))}
        except RequestFailedError as error:
            return {"error": error.args}

    def _boot_what_is_due(self) -> None:
        due = [due_request for number, due_request in self.waiting if number <= len(self.asked)]
        self.waiting = [
            (number, waiting_request) for number, waiting_request in self.waiting if number > len(self.asked)
        ]
        for due_request in due:
            due_request()

    def do_launch(
        self, task: JsonObject, cluster: str, settings: list[str], dryrun: bool = False, managed: bool = False
    ):
        if dryrun:
            return "dry"
        boot, resources = self.boot, task["resources"]
        request: JsonObject = {
            "request_id": f"request-{len(self.requests)}",
            "name": "sky.jobs.launch" if managed else "sky.launch",
            "status": "RUNNING",
            "error": None,
            "created_at": time.time(),
            "cluster_name": cluster,
            "request_body": json.dumps({"name": cluster}),
        }
        self.requests.append(request)

        def machines() -> None:
            cloud, _, region = resources["infra"].partition("/")
            kind = boot.instance_type or resources["instance_type"]
            place = boot.region or region or "us-east-1"
            labels = resources["labels"] if boot.labelled else {}
            autostop = boot.autostop and boot.fails is None and "autostop" in resources
            ids = [
                self.clouds.start(
                    cloud,
                    kind,
                    region=place,
                    cluster=cluster,
                    labels=labels,
                    settings=settings,
                    autostop=autostop,
                    named=boot.named,
                )
                for _ in range(task.get("num_nodes", 1))
            ]
            if boot.fails is None:
                self._up(cluster, task, ids, kind, place)

        if boot.machine and not boot.after:
            machines()
        elif boot.machine:
            self.waiting.append((len(self.asked) + boot.after, machines))
        if boot.fails is not None:
            request |= {"status": "FAILED", "error": boot.fails}
        elif not boot.after:
            request["status"] = "SUCCEEDED"
        return request["request_id"]

    def _up(self, cluster: str, task: JsonObject, ids: list[str], kind: str, region: str) -> None:
        accelerator, count = GPUS.get(kind, ("A100", 8))
        run_id = task["envs"]["PLANNER_RUN_ID"]
        self.clusters[cluster] = {
            "ids": ids,
            "run_id": run_id,
            "job": "RUNNING",
            "comes_to": self.boot.job,
            "record": {
                "name": cluster,
                "status": "UP",
                "launched_at": int(time.time()),
                "autostop": 10 if self.boot.autostop else -1,
                "to_down": self.boot.autostop,
                "cluster_ever_up": True,
                "handle": {
                    "launched_nodes": len(ids),
                    "machine_ids": ids if self.boot.ids else [],
                    "launched_resources": {
                        "instance_type": kind,
                        "accelerators": {accelerator: count},
                        "region": region,
                        "use_spot": task["resources"]["use_spot"],
                        "usd": 21.96,
                    },
                },
            },
        }
        for request in self.requests:
            if request["cluster_name"] == cluster and request["status"] == "RUNNING":
                request["status"] = "SUCCEEDED"
        if self.boot.results:
            self.clouds.leave_results(run_id)

    def do_request_error(self, request: str):
        raise RequestFailedError(*next(entry["error"] for entry in self.requests if entry["request_id"] == request))

    def do_api_status(self, cluster: str | None, every: bool):
        known = [request for request in self.requests if cluster in (None, request["cluster_name"])]
        return [cluster | {"error": None} for cluster in known if every or cluster["status"] == "RUNNING"]

    def do_api_cancel(self, requests: list[str]):
        for request in self.requests:
            if request["request_id"] in requests:
                request["status"] = "CANCELLED"

    def do_status(self, clusters: list[str] | None, refresh: str):
        names = (
            list(self.clusters) if clusters is None else [cluster for cluster in clusters if cluster in self.clusters]
        )
        if refresh != "NONE":
            for name in names:
                if all(self.clouds.gone(machine_id) for machine_id in self.clusters[name]["ids"]):
                    del self.clusters[name]
        return [self.clusters[name]["record"] for name in names if name in self.clusters]

    def do_queue(self, cluster: str):
        known = self.clusters[cluster]
        job = known["job"]
        known["job"] = known["comes_to"]
        return [{"job_id": 1, "job_name": cluster, "status": job}]

    def do_down(self, cluster: str):
        known = self.clusters[cluster]
        for machine_id in known["ids"]:
            self.clouds.end(machine_id)
        del self.clusters[cluster]

    def do_tail_logs(self, cluster: str):
        run_id = self.clusters[cluster]["run_id"]
        return "a step\n" + (f"PLANNER-DONE run={run_id} rank=0 exit=0\n" if self.boot.sentinel else "")

    def do_tail_provision_logs(self, cluster: str):
        return "looking for machines\n"

    def do_reach(self, cluster: str):
        addresses = ["127.0.0.1" for _ in self.clusters[cluster]["ids"]]
        return {"ssh_config": self.ssh_config.format(cluster=cluster), "addresses": addresses}


def serve(sky: SkyServer) -> ThreadingHTTPServer:
    """Answer on a free port of loopback, in threads of this process."""

    class SkyHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(sky.answer(self.path.strip("/"), question)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), SkyHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
