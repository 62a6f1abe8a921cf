"""A SkyPilot task: `resources.accelerators`, `num_nodes`, and the command in `run`."""

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
    """Return the accelerators of all nodes. If several kinds are named, the first counts."""
    keys = Keys(data)
    nodes = keys.count("num_nodes") or 1
    named = keys.value("resources.accelerators")
    if isinstance(named, Mapping):
        card, number = next(((str(card), number) for card, number in named.items()), (None, 1))
    else:
        first = named[0] if isinstance(named, list) and named else named
        card, _, number = str(first or "").partition(":")
    each = count(number) or (1 if card else None)
    return Facts(accelerator=card or None, nodes=nodes, devices=each * nodes if each else None)


def variables(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that the task's command may use."""
    each = str(facts(data).devices or 1)
    number = str(Keys(data).count("num_nodes") or 1)
    per_node = str(int(each) // int(number))
    own = {str(name): str(value) for name, value in (Keys(data).value("envs") or {}).items()}
    return own | {"SKYPILOT_NUM_GPUS_PER_NODE": per_node, "SKYPILOT_NUM_NODES": number}
