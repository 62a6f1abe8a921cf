"""LLaMA-Factory's YAML and commands: `stage`, `finetuning_type`, `cutoff_len`, `template`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.hf_arguments import shared_facts
from planner.adapters.training_files.keys import Keys

MARKS = ("finetuning_type", "cutoff_len", "template", "stage", "lora_target", "dataset_dir")
DEFAULT_RANK = 8
DEFAULT_LENGTH = 2048


def reads(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a configuration of LLaMA-Factory."""
    return "model_name_or_path" in data and any(name in data for name in MARKS)


def facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in a configuration. The default `finetuning_type` is LoRA of rank 8."""
    keys = Keys(data)
    kind = (keys.text("finetuning_type") or "lora").casefold()
    found = shared_facts(keys, ("model_name_or_path",), method="lora" if kind in ("lora", "oft") else "full")
    recomputes = keys.flag("disable_gradient_checkpointing") is not True
    if found.method == "lora":
        targets = found.lora_targets or ("all",)
        found = replace(found, lora_rank=found.lora_rank or DEFAULT_RANK, lora_targets=targets)
    return replace(
        found,
        checkpointing="full" if recomputes else "none",
        seq_len=found.seq_len or DEFAULT_LENGTH,
    )
