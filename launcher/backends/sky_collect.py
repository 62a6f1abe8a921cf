"""Brings home what a launch through SkyPilot left: from its nodes, from the store they pushed to, and the logs."""

from __future__ import annotations

from pathlib import Path

from launcher.backends.base import RESULT_NAME, SENTINEL, STEPS_NAME, Collected, Launch
from launcher.backends.sky_process import SkyProcess, SkyRefusalError
from launcher.backends.sky_rsync import SSH_CONFIGS, copy_results
from launcher.cloud import pushed
from planner.errors import NodeError

GONE = "ClusterDoesNotExist"
JOB_LOG = "job.log"


def collect(sky: SkyProcess, launch: Launch, into: Path, *, sky_home: Path) -> Collected:
    """Bring home what the nodes have by rsync, what they pushed to the store, and the logs.

    Each way is tried; the one error that counts is that none led anywhere although there are machines.
    """
    problems: list[str] = []
    log = _write_log(sky, launch, into, problems)
    if not launch.target.managed:
        _fetch_from_nodes(sky, launch, into, problems, sky_home=sky_home)
    results = sorted(into.glob(f"start-*/{RESULT_NAME}"))
    if not results and launch.store is not None:
        try:
            pushed.fetch(launch.store, launch.run_id, into)
        except NodeError as error:
            problems.append(str(error))
        results = sorted(into.glob(f"start-*/{RESULT_NAME}"))
    steps = sorted(into.glob(f"start-*/{STEPS_NAME}"))
    if problems and not results and not steps:
        raise NodeError(f"nothing could be brought home from {launch.cluster}: {'; '.join(problems)}")
    text = "" if log is None else log.read_text(encoding="utf-8", errors="replace")
    ends = {line for line in text.splitlines() if f"{SENTINEL} run={launch.run_id} " in line}
    complete = bool(results) and len({_rank(line) for line in ends}) >= launch.target.nodes
    return Collected(folder=into, results=tuple(results), steps=tuple(steps), log=log, complete=complete)


def _write_log(sky: SkyProcess, launch: Launch, into: Path, problems: list[str]) -> Path | None:
    path = into / JOB_LOG
    try:
        text = sky.ask("log", cluster=launch.cluster, managed=launch.target.managed)
    except NodeError as error:
        if not (isinstance(error, SkyRefusalError) and error.sky_type == GONE):  # where there is nothing to read
            problems.append(str(error))
        return path if path.exists() else None
    path.write_text(text, encoding="utf-8")
    return path


def _fetch_from_nodes(sky: SkyProcess, launch: Launch, into: Path, problems: list[str], *, sky_home: Path) -> None:
    """Copy the results of node 0, and below `node-<rank>` what others left."""
    try:
        hosts = sky.ask("reach", cluster=launch.cluster)
    except NodeError as error:
        problems.append(str(error))
        return
    config = sky_home / SSH_CONFIGS / launch.cluster
    for rank, host in enumerate(hosts):
        folder = into if rank == 0 else into / f"node-{rank}"
        problem = copy_results(host, launch.run_id, folder, config=config)
        if problem is not None:
            problems.append(f"node {rank}: {problem}")


def _rank(line: str) -> str:
    return next((word for word in line.split() if word.startswith("rank=")), "")
