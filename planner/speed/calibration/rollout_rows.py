"""Published steps of trainings on their own completions, and a plan for each."""

from __future__ import annotations

from typing import Any, Literal

from planner.model.base import Count, Fraction, Frozen, Positive, Text
from planner.model.network.trainer_memory import Offload
from planner.model.network.training_method import Engine, Reference, RewardSource, TrainingMethod
from planner.model.network.workload import Checkpointing, Precision
from planner.model.plan.plan import Plan


class RolloutMeasurement(Frozen):
    """One row of `catalogs/generation/rollout_steps.csv`."""

    id: Text
    owner: Text
    source_ref: Text
    source_date: Text
    said: Text
    """The source's own words."""
    network: Text
    gpu: Text
    nodes: Count
    per_node: Count
    method: TrainingMethod
    framework: Text | None = None
    rank: Count | None = None
    """Rank of the adapters; null if all weights are trained."""
    prompts: Count
    group: Count | None = None
    prompt_tokens: Positive
    completion_mean: Positive
    completion_most: Count
    engine: Engine
    generating_devices: Count | None = None
    """Devices that only generate; null if the training devices generate."""
    asynchronous: bool
    tensor: Count | None = None
    at_once: Count | None = None
    """Completions that one copy writes at a time; null if not stated."""
    memory_share: Fraction | None = None
    sleep_level: Literal[0, 1, 2] | None = None
    reference: Reference
    reward: RewardSource
    checkpointing: Checkpointing
    offload: Offload
    assumed: Text | None = None
    """Settings that the source does not state, with their assumed values."""
    step_seconds: Positive
    generation_seconds: Positive | None = None
    """Seconds of generation, with the passes through frozen models if the source times them together."""
    training_seconds: Positive | None = None

    @property
    def plan(self) -> Plan:
        """Plan of ten steps on the source's machines."""
        generation: dict[str, Any] = {
            "engine": self.engine, "asynchronous": self.asynchronous, "devices": self.generating_devices,
            "tensor": self.tensor, "at_once": self.at_once, "memory_share": self.memory_share,
            "sleep_level": self.sleep_level,
        }  # fmt: skip
        training: dict[str, Any] = {
            "method": self.method, "prompts": self.prompts, "group": self.group, "precision": Precision.BF16,
            "completion_tokens": {"mean": self.completion_mean, "most": self.completion_most},
            "reference": self.reference, "reward": self.reward, "generation": _stated(generation),
            "checkpointing": self.checkpointing, "offload": self.offload, "framework": self.framework,
            "adapters": None if self.rank is None else {"rank": self.rank},
        }  # fmt: skip
        several = {"network_gbit_per_s": NETWORK_GBIT} if self.nodes > 1 else {}
        plan = {
            "schema_version": 1, "name": self.id,
            "workload": {"ref": self.network, "seq_len": int(self.prompt_tokens) + self.completion_most},
            "work": {"samples": STEPS * self.prompts, "tokens_per_sample": self.prompt_tokens},
            "training": _stated(training),
            "options": [{"own": self.gpu, "count": self.per_node, "nodes": self.nodes} | several],
        }  # fmt: skip
        return Plan.model_validate(plan)


def _stated(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


STEPS = 10
"""Steps of a row's plan. Its speed does not depend on them."""
NETWORK_GBIT = 3200.0
"""Network of a node of eight accelerators if a source does not state it: a port of 400 Gbit/s for each."""
