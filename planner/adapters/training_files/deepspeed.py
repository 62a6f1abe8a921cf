"""DeepSpeed's JSON: the ZeRO stage, batches, number format, offload. Most values may be "auto"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.accelerate import offload_of
from planner.adapters.training_files.keys import Keys
from planner.adapters.training_files.spellings import optimizer_of, strategy_of_stage


def reads(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a configuration of DeepSpeed."""
    return "zero_optimization" in data or "train_micro_batch_size_per_gpu" in data


def facts(data: Mapping[str, Any]) -> Facts:
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
