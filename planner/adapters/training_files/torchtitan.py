"""torchtitan's TOML: `[model] name, flavor`, `[training]`, `[parallelism]`, `[activation_checkpoint]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import Keys
from planner.adapters.training_files.spellings import optimizer_of

FAMILIES = {"llama3": "llama-3.1", "llama2": "llama-2", "qwen3": "qwen3", "llama4": "llama-4"}
CHECKPOINTING = {"none": "none", "selective": "selective", "full": "full"}


def reads(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a job of torchtitan."""
    return isinstance(data.get("model"), Mapping) and "flavor" in data["model"]


def facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in a job. Its data are packed; its weights are sharded by FSDP2 unless replicated."""
    keys = Keys(data)
    name, flavor = keys.text("model.name") or "", keys.text("model.flavor") or ""
    shards, replicas = keys.value("parallelism.data_parallel_shard_degree"), None
    replicas = keys.count("parallelism.data_parallel_replicate_degree")
    parts = [replicas or 1, shards if isinstance(shards, int) and shards > 0 else None]
    tensor, pipeline = (
        keys.count("parallelism.tensor_parallel_degree"),
        keys.count("parallelism.pipeline_parallel_degree"),
    )
    context = keys.count("parallelism.context_parallel_degree") or 1
    devices = parts[0] * parts[1] * (tensor or 1) * (pipeline or 1) * context if parts[0] and parts[1] else None
    return Facts(
        model=f"{FAMILIES.get(name, name)}-{flavor.casefold()}" if name and flavor else None,
        method="full",
        micro_batch=keys.count("training.local_batch_size", "training.batch_size"),
        global_batch=keys.count("training.global_batch_size"),
        seq_len=keys.count("training.seq_len"),
        planned_steps=keys.count("training.steps"),
        precision="float8" if "float8" in str(keys.value("model.converters") or "") else "bf16",
        strategy="ddp" if shards == 1 and (replicas or 1) > 1 else "fsdp2",
        checkpointing=CHECKPOINTING.get(keys.text("activation_checkpoint.mode") or ""),
        optimizer=optimizer_of(keys.text("optimizer.name")),
        compiled=keys.flag("compile.enable", "training.compile"),
        padded=False,
        devices=devices,
        tensor=tensor if tensor != 1 else None,
        pipeline=pipeline if pipeline != 1 else None,
        framework="torchtitan",
    )
