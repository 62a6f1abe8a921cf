"""torchtune's YAML: components by their dotted names, `model._component_: torchtune.models.llama3.lora_llama3_8b`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import Keys
from planner.adapters.training_files.spellings import objective_of, optimizer_of, precision_of

BUILDER = re.compile(r"torchtune\.models\.(\w{1,40})\.(q?lora_|dora_|qdora_)?(\w{1,60})")
FAMILIES = {
    "llama3_1": "llama-3.1", "llama3_2": "llama-3.2", "llama3_3": "llama-3.3", "llama3": "llama-3", "llama2": "llama-2",
    "qwen2_5": "qwen2.5", "qwen2": "qwen2", "qwen3": "qwen3", "gemma2": "gemma-2", "gemma": "gemma",
    "mistral": "mistral", "phi3": "phi-3", "phi4": "phi-4",
}  # fmt: skip
"""Our names of network families, by the module of a builder."""


def reads(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a configuration of torchtune."""
    return "torchtune" in str(Keys(data).value("model._component_") or "")


def facts(data: Mapping[str, Any]) -> Facts:
    """Return what a configuration states."""
    keys = Keys(data)
    found = BUILDER.search(str(keys.value("model._component_")))
    adapter = (found[2] or "") if found else ""
    targets = list(keys.words("model.lora_attn_modules") or ())
    targets += ["gate_proj", "up_proj", "down_proj"] if keys.flag("model.apply_lora_to_mlp") else []
    packed = keys.flag("dataset.packed", "tokenizer.packed")
    recomputed = keys.flag("enable_activation_checkpointing")
    loss = keys.text("loss._component_") or ""
    return Facts(
        model=network_name(found[1], found[3]) if found else None,
        method="lora" if adapter else "full",
        lora_rank=keys.count("model.lora_rank") if adapter else None,
        lora_targets=tuple(targets) or None,
        quantized=True if adapter.startswith("q") else None,
        micro_batch=keys.count("batch_size"),
        accumulation=keys.count("gradient_accumulation_steps"),
        seq_len=keys.count("tokenizer.max_seq_len", "dataset.max_seq_len"),
        epochs=keys.number("epochs"),
        precision=precision_of(keys.text("dtype")),
        weights="16bit" if precision_of(keys.text("dtype")) in ("bf16", "fp16") else None,
        checkpointing=None if recomputed is None else "full" if recomputed else "none",
        optimizer=optimizer_of(keys.text("optimizer._component_")),
        padded=None if packed is None else not packed,
        compiled=keys.flag("compile"),
        objective=objective_of(loss.rpartition(".")[2].removesuffix("Loss")),
        loss="chunked" if "Chunked" in loss or "Linear" in loss else None,
        framework="torchtune",
    )


def network_name(module: str, builder: str) -> str:
    """Return the network that a builder makes: `qwen2_5_0_5b` of qwen2_5 is qwen2.5-0.5b."""
    family = FAMILIES.get(module, module.replace("_", "-"))
    size = builder.removeprefix(module).strip("_") or builder
    return f"{family}-{re.sub(r'(?<=[0-9])_(?=[0-9])', '.', size).replace('_', '-')}"
