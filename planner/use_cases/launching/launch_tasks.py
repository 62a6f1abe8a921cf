"""Builds tasks that a user can run with `sky launch`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from planner.errors import InputError
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.task import BY_HAND, EXPIRY_LABEL, RUN_LABEL, cluster_name, sky_config_of


def by_hand(launch: Launch) -> tuple[dict[str, Any], str]:
    """Return the task without entries that need a ledger (run id, expiry), and a header that tells how to run it.

    The folder of the benchmark is written relative to the working directory if it lies below it.
    """
    if not launch.target.through_sky:
        raise InputError(
            f"{launch.target.id} is not run by SkyPilot, so it has no task file.",
            fix=f"Launch it with: planner launch {launch.workload} --on {launch.target.id}",
        )
    task = dict(launch.task)
    task["name"] = cluster_name(BY_HAND)
    labels = {key: value for key, value in task["resources"]["labels"].items() if key != EXPIRY_LABEL}
    task["resources"] = {**task["resources"], "labels": {**labels, RUN_LABEL: BY_HAND}}
    task["envs"] = {**task["envs"], "PLANNER_RUN_ID": BY_HAND}
    ((remote, local),) = task["file_mounts"].items()
    task["file_mounts"] = {remote: _relative(Path(local))}
    return task, _header(launch)


def _header(launch: Launch) -> str:
    config = "".join(
        f" --config '{key}={json.dumps(value)}'"
        for key, value in sky_config_of(launch.target, launch.bill.caps).items()
    )
    return (
        f"{launch.workload} on {launch.target.id}, made by: planner task {launch.workload} --on {launch.target.id}\n"
        f"Run it with: sky launch{config} THIS_FILE; it ends by itself and takes its machine down when idle.\n"
        "Results: ~/planner-results/by-hand/start-*/result.json on node 0, then: "
        f"planner runs add result.json --target {launch.target.id}\n"
    )


def _relative(folder: Path) -> str:
    try:
        return f"./{folder.relative_to(Path.cwd())}"
    except ValueError:
        return str(folder)
