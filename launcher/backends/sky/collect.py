"""Collects what a launch through SkyPilot left: from its nodes, from its store, and the logs."""

from __future__ import annotations

from pathlib import Path

from planner.errors import NodeError
from planner.launcher.backends.sky.process import SkyProcess, SkyRefusalError
from planner.launcher.backends.sky.rsync import SSH_CONFIGS, copy_results
from planner.launcher.cloud import store_results
from planner.launcher.collect.results import collected
from planner.launcher.plan.backend import Collected, Launch
from planner.redact import clean
from planner.whole_file import whole_file

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
            store_results.fetch(launch.store, launch.run_id, into)
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
