"""Files that start trainers: of `accelerate config`, DeepSpeed's JSON, Slurm scripts, SkyPilot tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.numbers_in_text import count
from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import (
    Keys,
    offload_of_file_name,
    optimizer_of,
    precision_of,
    strategy_of_file_name,
    strategy_of_stage,
)

FSDP = {"1": "fsdp2", "full_shard": "fsdp2", "hybrid_shard": "fsdp2", "2": "zero2", "shard_grad_op": "zero2",
        "no_shard": "ddp", "3": "ddp"}  # fmt: skip


def is_accelerate(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a file of accelerate."""
    return "distributed_type" in data or ("num_processes" in data and "mixed_precision" in data)


def accelerate_facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in a file. `num_processes` counts all accelerators of all machines."""
    keys = Keys(data)
    kind = (keys.text("distributed_type") or "").casefold()
    offload = None
    strategy = "ddp" if kind in ("multi_gpu", "no") else None
    recomputed = keys.flag("fsdp_config.fsdp_activation_checkpointing")
    if kind == "fsdp":
        sharding = str(keys.value("fsdp_config.fsdp_sharding_strategy") or "full_shard").casefold()
        resharded = keys.flag("fsdp_config.fsdp_reshard_after_forward")
        strategy = "zero2" if resharded is False else FSDP.get(sharding, "fsdp2")
        offload = "all" if keys.flag("fsdp_config.fsdp_offload_params") else None
    elif kind == "deepspeed":
        stage, named = keys.value("deepspeed_config.zero_stage"), keys.text("deepspeed_config.deepspeed_config_file")
        strategy = strategy_of_stage(stage if isinstance(stage, int) else None) or strategy_of_file_name(named)
        offload = offload_of_file_name(named) or offload_of(
            keys.text("deepspeed_config.offload_optimizer_device"), keys.text("deepspeed_config.offload_param_device")
        )
    return Facts(
        devices=keys.count("num_processes"),
        nodes=keys.count("num_machines"),
        precision=precision_of(keys.text("mixed_precision")),
        strategy=strategy,
        accumulation=keys.count("deepspeed_config.gradient_accumulation_steps", "gradient_accumulation_steps"),
        checkpointing=None if recomputed is None else "full" if recomputed else "none",
        offload=offload,
    )


def offload_of(optimizer: str | None, weights: str | None) -> str | None:
    """Return what is kept in the host's memory, from the two devices that DeepSpeed names."""
    hosts = ("cpu", "nvme")
    if (weights or "") in hosts:
        return "all"
    return "optimizer" if (optimizer or "") in hosts else None


def is_deepspeed(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a configuration of DeepSpeed."""
    return "zero_optimization" in data or "train_micro_batch_size_per_gpu" in data


def deepspeed_facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in a configuration."""
    keys = Keys(data)
    stage = keys.value("zero_optimization.stage")
    offload = offload_of(
        keys.text("zero_optimization.offload_optimizer.device"), keys.text("zero_optimization.offload_param.device")
    )
    if offload is None and keys.flag("zero_optimization.cpu_offload"):
        offload = "optimizer"
    precision = next((name for name in ("bf16", "fp16") if keys.flag(f"{name}.enabled")), None)
    return Facts(
        strategy=strategy_of_stage(stage if isinstance(stage, int) else None),
        micro_batch=keys.count("train_micro_batch_size_per_gpu"),
        global_batch=keys.count("train_batch_size"),
        accumulation=keys.count("gradient_accumulation_steps"),
        precision=precision,
        optimizer=optimizer_of(keys.text("optimizer.type")),
        offload=offload,
    )


_LINE = re.compile(r"^#SBATCH\s+(.{1,300})$", re.MULTILINE)
_OPTION = re.compile(r"(?:^|\s)(--[\w-]{1,40}|-[A-Za-z])(?:=|\s+)([^\s#]{1,200})")
_GPUS = re.compile(r"(?:gpu:)?(?:([A-Za-z][\w.-]{0,40}):)?(\d{1,5})$")


def is_sbatch(text: str) -> bool:
    """Return whether a text is a script for sbatch."""
    return bool(_LINE.search(text))


def sbatch_facts(text: str) -> Facts:
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


def sbatch_variables(asked: Facts) -> dict[str, str]:
    """Return the Slurm variables that the script's commands may use."""
    if asked.nodes is None:
        return {}
    nodes = {"SLURM_NNODES": str(asked.nodes), "SLURM_JOB_NUM_NODES": str(asked.nodes)}
    if asked.devices is None:
        return nodes
    each = str(asked.devices // asked.nodes)
    return nodes | {"SLURM_GPUS_ON_NODE": each, "SLURM_GPUS_PER_NODE": each}


def is_skypilot(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a task of SkyPilot."""
    return isinstance(data.get("run"), str) and ("resources" in data or "num_nodes" in data or "setup" in data)


def skypilot_facts(data: Mapping[str, Any]) -> Facts:
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


def skypilot_variables(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that the task's command may use."""
    each = str(skypilot_facts(data).devices or 1)
    number = str(Keys(data).count("num_nodes") or 1)
    per_node = str(int(each) // int(number))
    own = {str(name): str(value) for name, value in (Keys(data).value("envs") or {}).items()}
    return own | {"SKYPILOT_NUM_GPUS_PER_NODE": per_node, "SKYPILOT_NUM_NODES": number}
