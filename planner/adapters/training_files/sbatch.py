"""Reads a Slurm script: the resources in its `#SBATCH` lines, and the variables of the command below them."""

from __future__ import annotations

import re

from planner.adapters.trainer_logs.numbers_in_text import count
from planner.adapters.trainer_logs.trainer_log import Facts

_LINE = re.compile(r"^#SBATCH\s+(.{1,300})$", re.MULTILINE)
_OPTION = re.compile(r"(?:^|\s)(--[\w-]{1,40}|-[A-Za-z])(?:=|\s+)([^\s#]{1,200})")
_GPUS = re.compile(r"(?:gpu:)?(?:([A-Za-z][\w.-]{0,40}):)?(\d{1,5})$")


def reads(text: str) -> bool:
    """Return whether a text is a script for sbatch."""
    return bool(_LINE.search(text))


def facts(text: str) -> Facts:
    """Return the nodes and the accelerators of all nodes, stated per node or for the whole job."""
    asked = {name: value for line in _LINE.findall(text) for name, value in _OPTION.findall(line)}
    nodes = count((asked.get("--nodes") or asked.get("-N") or "1").partition("-")[0]) or 1
    per_node, accelerator = None, None
    for name in ("--gpus-per-node", "--gres"):
        if found := _GPUS.match(asked.get(name, "").partition(",")[0]):
            accelerator, per_node = accelerator or found[1], per_node or int(found[2])
    devices = per_node * nodes if per_node else None
    found = _GPUS.match(asked.get("--gpus") or asked.get("-G") or "")
    if devices is None and found:
        accelerator, devices = found[1], int(found[2])
    return Facts(devices=devices, nodes=nodes, accelerator=accelerator)


def variables(asked: Facts) -> dict[str, str]:
    """Return the Slurm variables that the script's commands may use."""
    if asked.nodes is None:
        return {}
    nodes = {"SLURM_NNODES": str(asked.nodes), "SLURM_JOB_NUM_NODES": str(asked.nodes)}
    if asked.devices is None:
        return nodes
    per_node = str(asked.devices // asked.nodes)
    return nodes | {"SLURM_GPUS_ON_NODE": per_node, "SLURM_GPUS_PER_NODE": per_node}
