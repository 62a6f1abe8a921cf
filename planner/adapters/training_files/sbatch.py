"""A Slurm script: the resources in its `#SBATCH` lines, and the command below them."""

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
    """Return nodes and accelerators: those of a node x nodes, or of the whole job."""
    asked = {name: value for line in _LINE.findall(text) for name, value in _OPTION.findall(line)}
    nodes = count((asked.get("--nodes") or asked.get("-N") or "1").partition("-")[0]) or 1
    each, card = None, None
    for name in ("--gpus-per-node", "--gres"):
        if found := _GPUS.match(asked.get(name, "").partition(",")[0]):
            card, each = card or found[1], each or int(found[2])
    whole = each * nodes if each else None
    found = _GPUS.match(asked.get("--gpus") or asked.get("-G") or "")
    if whole is None and found:
        card, whole = found[1], int(found[2])
    return Facts(devices=whole, nodes=nodes, accelerator=card)


def variables(asked: Facts) -> dict[str, str]:
    """Return the Slurm variables that the script's commands may use."""
    if asked.nodes is None:
        return {}
    nodes = {"SLURM_NNODES": str(asked.nodes), "SLURM_JOB_NUM_NODES": str(asked.nodes)}
    if asked.devices is None:
        return nodes
    each = str(asked.devices // asked.nodes)
    return nodes | {"SLURM_GPUS_ON_NODE": each, "SLURM_GPUS_PER_NODE": each}
