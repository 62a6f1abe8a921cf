"""Collects what a launch through SkyPilot left: from its nodes (rsync over SkyPilot's ssh), its store, and the logs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from planner import time_limits
from planner.aws_session import aws_session
from planner.errors import NodeError
from planner.launcher.backends.sky.process import SkyProcess, SkyRefusalError
from planner.launcher.cloud.aws import explained
from planner.launcher.collect.incoming import LARGEST_BYTES, RSYNC, incoming, is_allowed
from planner.launcher.collect.results import collected
from planner.launcher.plan.backend import Collected, Launch
from planner.redact import clean
from planner.time_limits import within
from planner.whole_file import whole_file

OURS = ("job.log",)
"""Files written here from SkyPilot's log."""
PART = ".part"
"""Suffix of incomplete files. Such names are never taken in."""
_NODE = re.compile(r"node-[0-9]{1,5}")


def fetch(store: str, run_id: str, into: Path) -> None:
    """Copy `<store>/<run id>/node-<rank>/...` home: node 0 into `into`, the others below `node-<rank>`.

    Files that none of our nodes would write are left out: someone who may write to the bucket is not trusted with this
    machine.
    """
    bucket, _, prefix = store.removeprefix("s3://").partition("/")
    root = "/".join([*([prefix.strip("/")] if prefix.strip("/") else []), run_id]) + "/"
    with explained(store):
        client = aws_session().client("s3")
        for node, wanted in within(lambda: _listed(client, bucket, root), who=store).items():
            with incoming(into if node == "node-0" else into / node, own=OURS) as staged:
                within(lambda: _download(client, bucket, f"{root}{node}/", wanted, staged), who=store)  # noqa: B023


def _listed(client: Any, bucket: str, root: str) -> dict[str, list[str]]:
    """Return the names of the files that each node may have pushed."""
    names: dict[str, list[str]] = {}
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=root):
        for item in page.get("Contents", ()):
            node, _, name = item["Key"].removeprefix(root).partition("/")
            if _NODE.fullmatch(node) and is_allowed(name, own=OURS) and item["Size"] <= LARGEST_BYTES:
                names.setdefault(node, []).append(name)
    return names


def _download(client: Any, bucket: str, root: str, names: Sequence[str], into: Path) -> None:
    """Download files one by one. Each gets its final name once it is complete, so that a partial file is left out."""
    from boto3.s3.transfer import TransferConfig

    for name in names:
        place = into / name
        part = place.with_name(PART)
        place.parent.mkdir(parents=True, exist_ok=True)
        client.download_file(bucket, f"{root}{name}", str(part), Config=TransferConfig(use_threads=False))
        part.replace(place)


RESULTS_ON_NODE = "planner-results"
SSH_CONFIGS = Path(".sky") / "generated" / "ssh"
"""Path in SkyPilot's home: one file for each cluster."""


def copy_results(host: str, run_id: str, folder: Path, *, config: Path, own: Collection[str] = ()) -> str | None:
    """Copy one node's results of a run into `folder`. Return the reason of a failure; files copied before it stay."""
    with incoming(folder, own=own) as staged:
        return _copied(f"{host}:{RESULTS_ON_NODE}/{run_id}/", staged, config=config)


def _copied(source: str, folder: Path, *, config: Path) -> str | None:
    ssh = f"ssh -F {config} -o BatchMode=yes -o ConnectTimeout={time_limits.CONNECT_S:.0f}"
    command = ["rsync", f"--timeout={time_limits.SILENCE_S:.0f}", *RSYNC, f"--rsh={ssh}", source, "./"]
    try:
        done = subprocess.run(
            command,
            cwd=folder,  # the folder from which the launch was made may be gone by now
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=time_limits.OPERATION_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"rsync did not end within {time_limits.OPERATION_S:g} s"
    if done.returncode == 0:
        return None
    said = " ".join(done.stderr.split())[-300:]
    return f"rsync ended with code {done.returncode}: {said}"


GONE = "ClusterDoesNotExist"
JOB_LOG = "job.log"


def collect(sky: SkyProcess, launch: Launch, into: Path, *, sky_home: Path) -> Collected:
    """Copy home what the nodes pushed to the store, what they have (by rsync), and the logs.

    Each way is tried. Raises NodeError if one failed and not every start has a complete result here. The nodes may
    still have it, so the caller can retry before they go down. Files that were copied stay.
    """
    problems: list[str] = []
    _write_log(sky, launch, into, problems)
    if launch.store is not None:
        try:
            fetch(launch.store, launch.run_id, into)
        except NodeError as error:
            problems.append(str(error))
    if not launch.target.managed:  # after the store, whose files may be older
        _fetch_from_nodes(sky, launch, into, problems, sky_home=sky_home)
    collection = collected(into, run_id=launch.run_id, nodes=launch.target.nodes)
    if problems and len(collection.results) < int(launch.task["envs"]["PLANNER_STARTS"]):
        raise NodeError(f"not everything could be brought home from {launch.cluster}: {'; '.join(problems)}")
    return collection


def _write_log(sky: SkyProcess, launch: Launch, into: Path, problems: list[str]) -> None:
    try:
        text = sky.ask("log", cluster=launch.cluster, managed=launch.target.managed)
    except NodeError as error:
        if not (isinstance(error, SkyRefusalError) and error.sky_type == GONE):  # otherwise there is no log to read
            problems.append(str(error))
    else:
        with whole_file(into / JOB_LOG, follow=False) as file:
            file.write(clean(text).encode(errors="replace"))


def _fetch_from_nodes(sky: SkyProcess, launch: Launch, into: Path, problems: list[str], *, sky_home: Path) -> None:
    """Copy the results of node 0, and in `node-<rank>` what the other nodes left."""
    try:
        hosts = sky.ask("reach", cluster=launch.cluster)
    except NodeError as error:
        problems.append(str(error))
        return
    config = sky_home / SSH_CONFIGS / launch.cluster
    for rank, host in enumerate(hosts):
        folder = into if rank == 0 else into / f"node-{rank}"
        problem = copy_results(host, launch.run_id, folder, config=config, own=(JOB_LOG,))
        if problem is not None:
            problems.append(f"node {rank}: {problem}")
