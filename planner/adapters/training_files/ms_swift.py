"""ms-swift's arguments: `swift sft --model ... --train_type lora`, or its `args.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.hf_arguments import shared_facts
from planner.adapters.training_files.keys import Keys

MARKS = ("train_type", "tuner_type", "sft_type", "swift_version", "target_modules", "tuner_backend")
MODELS = ("model", "model_id_or_path", "model_type")
DEFAULT_RANK = 8


def reads(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is arguments of ms-swift."""
    return isinstance(data.get("model", data.get("model_id_or_path")), str) and any(name in data for name in MARKS)


def facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in arguments. The default `train_type` is LoRA of rank 8 on all linear maps."""
    keys = Keys(data)
    kind = (keys.text("train_type", "tuner_type", "sft_type") or "lora").casefold()
    found = shared_facts(keys, MODELS, method="full" if kind == "full" else "lora", framework="HF Trainer")
    if found.method == "lora":
        targets = found.lora_targets or ("all-linear",)
        found = replace(found, lora_rank=found.lora_rank or DEFAULT_RANK, lora_targets=targets)
    return replace(
        found,
        checkpointing=found.checkpointing or "full",
    )
