"""Reads a SkyPilot task: `resources.accelerators`, `num_nodes`, and the variables of the command in `run`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.numbers_in_text import count
from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import Keys


def reads(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a task of SkyPilot."""
    return isinstance(data.get("run"), str) and ("resources" in data or "num_nodes" in data or "setup" in data)


def facts(data: Mapping[str, Any]) -> Facts:
    """Return the accelerators of all nodes. If the task names several kinds of accelerator, the first counts."""
    keys = Keys(data)
    nodes = keys.count("num_nodes") or 1
    named = keys.value("resources.accelerators")
    if isinstance(named, Mapping):
        accelerator, number = next(((str(name), number) for name, number in named.items()), (None, 1))
    else:
        first = named[0] if isinstance(named, list) and named else named
        accelerator, _, number = str(first or "").partition(":")
    per_node = count(number) or (1 if accelerator else None)
    return Facts(accelerator=accelerator or None, nodes=nodes, devices=per_node * nodes if per_node else None)


def variables(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that the task's command may use."""
    asked = facts(data)
    nodes = asked.nodes or 1
    per_node = (asked.devices or 1) // nodes
    own = {str(name): str(value) for name, value in (Keys(data).value("envs") or {}).items()}
    return own | {"SKYPILOT_NUM_GPUS_PER_NODE": str(per_node), "SKYPILOT_NUM_NODES": str(nodes)}
