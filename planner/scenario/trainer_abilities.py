"""Strategies and splits that each trainer supports: one table, by family."""

from __future__ import annotations

from typing import NamedTuple

from planner.model.network.workload import Split, Strategy
from planner.scenario.frameworks import planned_family


class Abilities(NamedTuple):
    """Strategies and splits that a framework supports."""

    strategies: frozenset[Strategy]
    splits: frozenset[str] = frozenset()
    """Splits among `tensor`, `pipeline`, `context`, `experts`, `shards` (hybrid sharding)."""


_ZERO = frozenset({Strategy.DDP, Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3})
_FSDP = frozenset({Strategy.DDP, Strategy.FSDP2})
_DISTRIBUTED_OPTIMIZER = frozenset({Strategy.DDP, Strategy.ZERO1})
_ALL_SPLITS = frozenset({"tensor", "pipeline", "context", "experts", "shards"})
ANYTHING = Abilities(frozenset(Strategy), _ALL_SPLITS)
ABILITIES = {
    "megatron": Abilities(_DISTRIBUTED_OPTIMIZER, _ALL_SPLITS - {"shards"}),
    "neuron": Abilities(_DISTRIBUTED_OPTIMIZER, _ALL_SPLITS - {"shards"}),
    "internevo": Abilities(_DISTRIBUTED_OPTIMIZER, _ALL_SPLITS - {"shards"}),
    "deepspeed": Abilities(_ZERO, frozenset({"pipeline", "context", "experts"})),
    "hf trainer": Abilities(_ZERO | _FSDP, frozenset({"shards"})),
    "lightning": Abilities(_ZERO | _FSDP, frozenset({"shards"})),
    "torchtune": Abilities(_FSDP, frozenset({"tensor", "context"})),
    "torchtitan": Abilities(_FSDP, _ALL_SPLITS),
    "automodel": Abilities(_FSDP, _ALL_SPLITS),
    "composer": Abilities(_FSDP | {Strategy.ZERO2}, frozenset({"shards"})),
    "pytorch fsdp": Abilities(_FSDP | {Strategy.ZERO2}, frozenset({"shards"})),
    "jax": ANYTHING,
    "nanogpt": Abilities(_DISTRIBUTED_OPTIMIZER),
    "llm.c": Abilities(_DISTRIBUTED_OPTIMIZER),
    "deeplearningexamples": Abilities(frozenset({Strategy.DDP})),
    "tensorflow ngc": Abilities(frozenset({Strategy.DDP})),
}
"""Abilities by family, from each project's documentation of its parallelism (guides of megatron-core and DeepSpeed,
torchtitan's and torchtune's README, Accelerate's FSDP guide, llm-foundry's `fsdp_config`); a family that is not in the
table may do anything. Fully sharded with Composer and plain FSDP keeps weights with SHARD_GRAD_OP, which is ZeRO-2."""
UNSTATED_TRAINERS = {
    "FSDP": "pytorch fsdp", "DeepSpeed": "deepspeed", "torchtitan": "torchtitan", "Megatron-LM": "megatron",
}  # fmt: skip
"""Usual names of the trainers that a plan without a trainer may mean, and their families.

PyTorch's DDP runs with all of them.
"""


def is_run_by(framework: str | None, strategy: Strategy, split: Split) -> bool:
    """Return whether a trainer runs a strategy with a split; without a trainer, whether any usual one does.

    On one device no strategy is needed.
    """
    if framework is None:
        return bool(trainers_of(strategy, split))
    return _runs(ABILITIES.get(planned_family(framework), ANYTHING), strategy, split)


def trainers_of(strategy: Strategy, split: Split) -> tuple[str, ...]:
    """Return which of the trainers that a plan without a trainer may mean run a strategy with a split."""
    return tuple(name for name, family in UNSTATED_TRAINERS.items() if _runs(ABILITIES[family], strategy, split))


def _runs(able: Abilities, strategy: Strategy, split: Split) -> bool:
    degrees = {"tensor": split.tensor, "pipeline": split.pipeline, "context": split.context, "experts": split.experts}
    asked = {name for name, degree in degrees.items() if degree > 1} | ({"shards"} if split.shards else set())
    return asked <= able.splits and (strategy in able.strategies or strategy is Strategy.DDP)
