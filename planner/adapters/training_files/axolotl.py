"""axolotl's YAML: `base_model`, `adapter`, `micro_batch_size`, `sequence_len`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.hf_arguments import shared_facts
from planner.adapters.training_files.keys import Keys

MARKS = ("sequence_len", "micro_batch_size", "adapter", "datasets", "load_in_4bit", "sample_packing")
DEFAULT_BATCH = 1


def reads(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a configuration of axolotl."""
    return "base_model" in data and any(name in data for name in MARKS)


def facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in a configuration. Without an adapter all weights are trained."""
    keys = Keys(data)
    adapter = (keys.text("adapter") or "").casefold()
    found = shared_facts(keys, ("base_model",), method="lora" if adapter in ("lora", "qlora") else "full")
    every = keys.flag("lora_target_linear") or None
    return replace(
        found,
        quantized=True if adapter == "qlora" else found.quantized,
        eight_bit=None if adapter == "qlora" else found.eight_bit,
        lora_targets=("all",) if every else found.lora_targets,
        # axolotl's "auto" takes bf16 where the card has it
        precision="bf16" if str(data.get("bf16")).casefold() == "auto" else found.precision,
        micro_batch=found.micro_batch or DEFAULT_BATCH,
    )
