"""The file of `accelerate config`: processes, mixed precision, FSDP or DeepSpeed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import Keys
from planner.adapters.training_files.spellings import (
    offload_of_file_name,
    precision_of,
    strategy_of_file_name,
    strategy_of_stage,
)

FSDP = {"1": "fsdp2", "full_shard": "fsdp2", "hybrid_shard": "fsdp2", "2": "zero2", "shard_grad_op": "zero2",
        "no_shard": "ddp", "3": "ddp"}  # fmt: skip


def reads(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a file of accelerate."""
    return "distributed_type" in data or ("num_processes" in data and "mixed_precision" in data)


def facts(data: Mapping[str, Any]) -> Facts:
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
