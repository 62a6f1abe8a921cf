"""Additional work of a method of preferences in a training step: passes without gradients, and its own head."""

from __future__ import annotations

import math

from planner.model.network.architecture import Architecture
from planner.model.network.training_method import MethodSettings, Reference, RewardSource, TrainingMethod
from planner.model.plan.plan import FlopsConvention
from planner.network.flops import flops_per_sample, parameters

DIVERGENCE_PASSES = 2.0
"""Passes of KTO besides the reference's pass over the answer: the model and its reference over each answer with another
prompt, whose divergence is the baseline. Source: Ethayarajh et al. 2024, section 4.1; TRL's `KTOTrainer`.
"""


def forward_only_passes(objective: MethodSettings, *, epochs: float = math.inf) -> float:
    """Return the forward passes without gradients that accompany one training pass over the same tokens.

    dpo: 1 through the reference; kto: 3 (answer, and twice the answer with another prompt). Computed beforehand, the
    reference is passed once in all epochs: 1 / epochs. Without a reference kto still passes itself once. Others: 0.
    """
    of_the_model = 1.0 if objective.method is TrainingMethod.KTO else 0.0
    of_the_reference = {TrainingMethod.DPO: 1.0, TrainingMethod.KTO: DIVERGENCE_PASSES}
    passes = of_the_reference.get(objective.method, 0.0) if objective.method is not None else 0.0
    if objective.reference is Reference.NONE:
        passes = 0.0
    if objective.reference is Reference.PRECOMPUTED:
        passes /= epochs
    return of_the_model + passes


def method_flops_per_sample(
    architecture: Architecture,
    objective: MethodSettings,
    *,
    seq_len: float | None,
    convention: FlopsConvention,
    adapters: bool,
) -> float:
    """Return the training FLOPs of one sample under a method: of both sequences of a pair, with a reference's pass."""
    return flops_per_sample(
        architecture, seq_len=seq_len, convention=convention, adapters=adapters,
        forward_only=forward_only_passes(objective), scalar_head=has_scalar_head(objective),
        sequences=objective.sequences,
    )  # fmt: skip


def has_second_model(objective: MethodSettings) -> bool:
    """Return whether a frozen copy of the network exists beside the trained one."""
    return objective.reference is Reference.MODEL


def frozen_copies(objective: MethodSettings) -> int:
    """Count the frozen networks of the same size beside the trained one: a reference, a reward model."""
    return int(has_second_model(objective)) + int(objective.reward is RewardSource.MODEL)


def has_scalar_head(objective: MethodSettings) -> bool:
    """Return whether the head gives one number instead of the vocabulary."""
    return objective.method is TrainingMethod.REWARD


def parameters_under(architecture: Architecture, objective: MethodSettings) -> int:
    """Count the parameters of a network as a method trains it. A reward model's head gives one number.

    parameters - vocabulary x hidden (unless tied) + hidden
    """
    whole = parameters(architecture)
    if architecture.sample == "image" or not has_scalar_head(objective):
        return whole
    head = 0 if architecture.tied_head else architecture.vocab * architecture.hidden
    return whole - head + architecture.hidden
