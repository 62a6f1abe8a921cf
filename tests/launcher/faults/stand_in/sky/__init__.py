"""A SkyPilot whose server is the fault table's (sky_server.py): what the worker process asks of the real package.

Found through PYTHONPATH before the real one, so the worker itself runs unchanged. `request` names come back as
SkyPilot's would; what the server tells this process to do to itself (print, end, hang) is done at the question.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
import urllib.request
from enum import Enum
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import yaml

SETTINGS: list[str] = []


class ClusterDoesNotExist(Exception):  # noqa: N818  the names are SkyPilot's
    """Error for a cluster that does not exist."""


class ClusterNotUpError(Exception):
    """A cluster that cannot be asked."""


class ResourcesUnavailableError(Exception):
    """No machine was given."""


EXCEPTIONS = {error.__name__: error for error in (ClusterDoesNotExist, ClusterNotUpError, ResourcesUnavailableError)}


class StatusRefreshMode(Enum):
    """True if clouds are asked."""

    NONE = "NONE"
    AUTO = "AUTO"
    FORCE = "FORCE"


class Task:
    """A task."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    @classmethod
    def from_yaml_config(cls, document: dict[str, Any]) -> Task:
        return cls(document)


def ask(do: str, **question: Any) -> Any:
    """Ask the server; do to this process what it says; return its answer or raise SkyPilot's exception."""
    request = urllib.request.Request(f"{os.environ['FAKE_SKY_URL']}/{do}", data=json.dumps(question).encode())
    with urllib.request.urlopen(request, timeout=60) as reply:
        answer = json.load(reply)
    for what, value in answer.get("worker", {}).items():
        if what == "print":  # as a C library does: past whatever Python calls stdout
            print(value, flush=True)
            os.write(1, f"{value}\n".encode())
        if what == "end":
            os._exit(value)
        if what == "hang":
            time.sleep(value)
    if "error" in answer:
        kind, message = answer["error"]
        if kind == "SystemExit":
            sys.exit(message)
        raise EXCEPTIONS.get(kind, type(kind, (Exception,), {}))(message)
    return answer["ok"]


def _thing(value: Any) -> Any:
    """Return JSON as an object with attributes, as SkyPilot's own classes have."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: item if key == "accelerators" else _thing(item) for key, item in value.items()})
    return value


def launch(task: Task, cluster_name: str, dryrun: bool = False) -> str:
    return ask("launch", task=task.document, cluster=cluster_name, settings=SETTINGS, dryrun=dryrun)


def get(request: Any) -> Any:
    return request() if callable(request) else request


def stream_and_get(request: Any, output_stream: Any) -> Any:
    output_stream.write("the log of the request\n")
    return ask("request_error", request=request)


def api_status(**question: Any) -> list[Any]:
    known = ask("api_status", cluster=question.get("cluster_name"), every=bool(question.get("all_status")))
    return [_thing(record) for record in known]


def api_cancel(requests: Any, silent: bool = False) -> Any:
    return lambda: ask("api_cancel", requests=requests)


def status(names: list[str] | None, refresh: StatusRefreshMode = StatusRefreshMode.NONE) -> Any:
    return lambda: [_record(record) for record in ask("status", clusters=names, refresh=refresh.value)]


def _record(record: dict[str, Any]) -> dict[str, Any]:
    handle = _thing(record["handle"])
    handle.cached_cluster_info = SimpleNamespace(instances={machine_id: [] for machine_id in handle.machine_ids})
    handle.launched_resources.get_cost = lambda _seconds: handle.launched_resources.usd
    return record | {"handle": handle, "status": SimpleNamespace(value=record["status"])}


def queue(cluster: str, all_users: bool = False) -> Any:
    def asked() -> list[dict[str, Any]]:
        jobs = ask("queue", cluster=cluster)
        return [job | {"status": SimpleNamespace(value=job["status"])} for job in jobs]

    return asked


def down(cluster: str) -> Any:
    return lambda: ask("down", cluster=cluster)


def tail_logs(cluster: str, _job: Any, *, output_stream: io.StringIO, **_: Any) -> None:
    output_stream.write(ask("tail_logs", cluster=cluster))


def tail_provision_logs(cluster: str, *, output_stream: io.StringIO, **_: Any) -> None:
    output_stream.write(ask("tail_provision_logs", cluster=cluster))


def _reach(clusters: list[str]) -> list[dict[str, Any]]:
    """Write the ssh configuration of the clusters' nodes, as SkyPilot does."""
    records = []
    for name in clusters:
        answer = ask("reach", cluster=name)
        path = Path.home() / ".sky" / "generated" / "ssh" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(answer["ssh_config"], encoding="utf-8")
        records.append({"name": name, "handle": _thing({"cached_external_ips": answer["addresses"]})})
    return records


def _settings_of_the_user(path: tuple[str, ...], default: Any) -> Any:
    file = Path.home() / ".sky" / "config.yaml"
    value: Any = yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return default
        value = value[key]
    return value


def _module(name: str, **contents: Any) -> ModuleType:
    module = ModuleType(f"sky.{name}")
    module.__dict__.update(contents)
    sys.modules[f"sky.{name}"] = module
    return module


exceptions = _module("exceptions", **EXCEPTIONS)
skypilot_config = _module(
    "skypilot_config",
    apply_cli_config=SETTINGS.extend,
    reload_config=SETTINGS.clear,
    get_nested=_settings_of_the_user,
)
jobs = _module(
    "jobs",
    launch=lambda task, name: ask("launch", task=task.document, cluster=name, settings=SETTINGS, managed=True),
    queue_v2=lambda **_: lambda: [],
    cancel=lambda name: lambda: ask("down", cluster=name),
    tail_logs=lambda **_: None,
)
utils = _module("utils", common=_module("utils.common", StatusRefreshMode=StatusRefreshMode))
sdk = _module("client.sdk", tail_provision_logs=tail_provision_logs, _local_api_server_running=lambda **_: False)
command = _module("client.cli.command", _get_cluster_records_and_set_ssh_config=_reach)
client = _module("client", sdk=sdk, cli=_module("client.cli", command=command))
