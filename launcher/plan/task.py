"""Builds the SkyPilot task of a launch: one target, one benchmark, and their limits.

Users can also start the task's file with `sky launch`. The other backends run its `setup` and `run` themselves, so that
all machines run the same commands. All settings are in `envs`; the file never contains secrets.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from planner.launcher.plan.backend import SENTINEL
from planner.launcher.plan.bill import IDLE_MINUTES, TimeCaps
from planner.launcher.plan.target import LaunchProvider, Target

SETUP_MINUTES = 20
"""Minutes after which the set-up of a node is stopped."""
DISK_GB = 256
"""SkyPilot's default disk size, stated here because the bill counts it."""
RUN_LABEL = "planner-run"
EXPIRY_LABEL = "planner-expires"
EXPIRY_FORMAT = "%Y%m%dT%H%M%SZ"
"""Time format in UTC, without the colons that Kubernetes refuses in a label."""
UNTIL = "PLANNER_UNTIL"
"""Variable with the time by which a managed job must end, in seconds since 1970."""
BY_HAND = "by-hand"
"""Run id in a task that a user starts with `sky launch`."""
WORKLOADS_ON_NODE = "~/planner/workloads"

SETUP = """\
set -eu
timeout --kill-after=30s {minutes}m bash "${{PLANNER_NODE_DIR:-$HOME/planner}}/workloads/setup.sh"
"""

RUN = """\
code=0
{within}timeout --signal=TERM --kill-after=60s "${{PLANNER_MAX_MINUTES}}m" \\
  bash "${{PLANNER_NODE_DIR:-$HOME/planner}}/workloads/run.sh" || code=$?
echo "{sentinel} run=$PLANNER_RUN_ID rank=$SKYPILOT_NODE_RANK exit=$code"
exit $code
"""

TIME_LEFT_CHECK = """\
left=$((PLANNER_UNTIL - $(date +%s)))
[ "$left" -gt 0 ] || { echo "Its time was over before this start."; exit 1; }
PLANNER_MAX_MINUTES=$(awk -v left="$left" -v most="$PLANNER_MAX_MINUTES" \\
  'BEGIN { print left / 60 < most ? left / 60 : most }')
"""
"""Shell text that keeps a managed job within its time over all starts: SkyPilot restarts it after each preemption."""


def cluster_name(run_id: str) -> str:
    """Return the name of a launch's cluster or job, by which its machines can be found."""
    return f"pl-{run_id}"


def task_of(
    *,
    run_id: str,
    target: Target,
    spec: Mapping[str, Any],
    caps: TimeCaps,
    workloads: Path | str,
    starts: int = 1,
    expires_at: datetime | None = None,
    store: str | None = None,
    probes: str | None = None,
) -> dict[str, Any]:
    """Return the task in SkyPilot's format.

    The task fixes infra and instance type, so that SkyPilot cannot launch anything else. `workloads` is the local
    folder that is copied to each node. `store` is an `s3://bucket/prefix` to which nodes push with their own role.
    `expires_at` (UTC) becomes a label for people who find the machine. `probes` says which micro-batches are tried
    (workloads/run.sh).
    """
    envs = {
        "PLANNER_RUN_ID": run_id,
        "PLANNER_SPEC": json.dumps(dict(spec), separators=(",", ":")),
        "PLANNER_STARTS": str(starts),
        "PLANNER_MAX_MINUTES": f"{caps.max_minutes:g}",
    }
    if target.devices_per_node is not None:
        envs["PLANNER_DEVICES"] = str(target.devices_per_node)
    if str(spec.get("strategy", "")).startswith("zero"):
        envs["PLANNER_DEEPSPEED"] = "1"
    if spec.get("precision") == "float8":
        envs["PLANNER_TORCHAO"] = "1"
    if probes is not None:
        envs["PLANNER_PROBES"] = probes
    if target.image is not None:
        envs["PLANNER_IMAGE"] = "1"
    if store is not None:
        envs["PLANNER_PUSH_TO"] = store
    ends_at = expires_at if target.managed else None
    if ends_at is not None:
        envs[UNTIL] = f"{ends_at.timestamp():.0f}"
    return {
        "name": cluster_name(run_id),
        **({"num_nodes": target.nodes} if target.nodes > 1 else {}),
        "resources": _resources(target, run_id=run_id, caps=caps, expires_at=expires_at),
        "file_mounts": {WORKLOADS_ON_NODE: str(workloads)},
        "envs": envs,
        "setup": SETUP.format(minutes=SETUP_MINUTES),
        "run": RUN.format(sentinel=SENTINEL, within=TIME_LEFT_CHECK if ends_at is not None else ""),
    }


def with_expiry(task: Mapping[str, Any], expires_at: datetime) -> dict[str, Any]:
    """Return the task with a new expiry time for its machines, if it has one."""
    resources, envs = dict(task["resources"]), dict(task["envs"])
    if EXPIRY_LABEL in resources.get("labels", {}):
        resources["labels"] = resources["labels"] | {EXPIRY_LABEL: expires_at.strftime(EXPIRY_FORMAT)}
    if UNTIL in envs:
        envs[UNTIL] = f"{expires_at.timestamp():.0f}"
    return {**task, "resources": resources, "envs": envs}


def task_yaml(task: Mapping[str, Any], *, header: str = "") -> str:
    """Return the task as a YAML file: keys in reading order, scripts as blocks."""
    comment = "".join(f"# {line}\n" for line in header.splitlines())
    body = yaml.dump(dict(task), Dumper=_Dumper, sort_keys=False, width=10**6, allow_unicode=False)
    return comment + body


def sky_config_of(target: Target, caps: TimeCaps) -> dict[str, Any]:
    """Return the SkyPilot configuration that a task file cannot contain, by dotted keys.

    By hand: `sky launch --config 'aws.specific_reservations=["cr-..."]'`. On AWS each machine is told at boot when to
    shut down, because SkyPilot's autostop starts only after the set-up of its own parts. This does not apply to managed
    jobs, because their controller would receive the same order. Their controller is set to terminate instead of being
    stopped and kept.
    """
    if target.managed:
        return {"jobs.controller.resources.autostop": _autostop(IDLE_MINUTES)}
    if target.provider is not LaunchProvider.AWS:
        return {}
    config: dict[str, Any] = {"aws.post_provision_runcmd": [f"shutdown -h +{math.ceil(caps.worst_minutes)}"]}
    if target.reservation is not None:
        config["aws.specific_reservations"] = [target.reservation]
    return config


def _resources(target: Target, *, run_id: str, caps: TimeCaps, expires_at: datetime | None) -> dict[str, Any]:
    resources: dict[str, Any] = {}
    if target.is_cloud:
        resources["infra"] = target.provider.value + (f"/{target.region}" if target.region else "")
        resources["instance_type"] = target.name
        resources["use_spot"] = target.spot
        resources["disk_size"] = DISK_GB
    elif target.through_sky:
        resources["infra"] = f"{target.provider.value}/{target.name}"
        if target.sky_accelerator is not None:
            resources["accelerators"] = f"{target.sky_accelerator}:{target.devices_per_node or 1}"
    if target.network_tier is not None:
        resources["network_tier"] = target.network_tier
    if target.image is not None:
        resources["image_id"] = target.image
    resources["labels"] = {RUN_LABEL: run_id}
    if expires_at is not None:
        resources["labels"][EXPIRY_LABEL] = expires_at.strftime(EXPIRY_FORMAT)
    if target.through_sky and not target.managed:  # a managed job takes its own machines down
        resources["autostop"] = _autostop(caps.idle_minutes)
    return resources


def _autostop(idle_minutes: float) -> dict[str, Any]:
    """Return SkyPilot's autostop settings. They wait only for jobs: an open shell does not keep a machine running."""
    return {"idle_minutes": round(idle_minutes), "down": True, "wait_for": "jobs"}


class _Dumper(yaml.SafeDumper):
    """YAML dumper that writes multi-line text as a block."""


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _block)
