"""verl's overrides: `python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.n=8 ...`, or its YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import Keys

ROOT = "actor_rollout_ref"
DEFAULT_ESTIMATOR = "gae"
ESTIMATORS = {"gae": "ppo"}
"""Estimators of advantages: PPO's with a critic. The others are named like their objective (grpo, rloo)."""
STRATEGIES = {"fsdp": "fsdp2", "fsdp2": "fsdp2"}


def reads(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a configuration of verl, nested or with dotted names."""
    return any(str(name).partition(".")[0] == ROOT for name in data)


def facts(data: Mapping[str, Any]) -> Facts:
    """Return what a configuration states; an engine gives its cache back unless `free_cache_engine` is off."""
    keys = Keys(_nested(data))
    actor, rollout = f"{ROOT}.actor", f"{ROOT}.rollout"
    rank = keys.count(f"{ROOT}.model.lora_rank")
    recomputed = keys.flag(f"{ROOT}.model.enable_gradient_checkpointing")
    lengths = [keys.count("data.max_prompt_length"), keys.count("data.max_response_length")]
    estimator = keys.text("algorithm.adv_estimator") or DEFAULT_ESTIMATOR
    nodes, each = keys.count("trainer.nnodes") or 1, keys.count("trainer.n_gpus_per_node")
    freed = keys.flag(f"{rollout}.free_cache_engine")
    return Facts(
        model=keys.text(f"{ROOT}.model.path"),
        objective=ESTIMATORS.get(estimator, estimator),
        group=keys.count(f"{rollout}.n"),
        engine_share=keys.number(f"{rollout}.gpu_memory_utilization"),
        engine_sleep=0 if freed is False else None,
        micro_batch=keys.count(f"{actor}.ppo_micro_batch_size_per_gpu"),
        seq_len=sum(part for part in lengths if part is not None) or None,
        strategy=STRATEGIES.get(keys.text(f"{actor}.strategy") or "fsdp"),
        checkpointing=None if recomputed is None else "full" if recomputed else "none",
        method="lora" if rank else "full",
        lora_rank=rank,
        lora_targets=keys.words(f"{ROOT}.model.target_modules") if rank else None,
        epochs=keys.number("trainer.total_epochs"),
        planned_steps=keys.count("trainer.total_training_steps"),
        padded=None if (removed := keys.flag(f"{ROOT}.model.use_remove_padding")) is None else not removed,
        devices=None if each is None else each * nodes,
        nodes=nodes,
        framework="PyTorch",
    )


def _nested(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping whose dotted names are steps into mappings."""
    nested: dict[str, Any] = {}
    for name, value in data.items():
        place = nested
        *folders, last = str(name).split(".")
        for folder in folders:
            inner = place.get(folder)
            place[folder] = dict(inner) if isinstance(inner, Mapping) else {}
            place = place[folder]
        place[last] = value
    return nested
