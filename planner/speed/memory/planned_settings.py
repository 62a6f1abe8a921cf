"""Trainer settings that decide memory: those that the plan states, completed by its framework's defaults."""

from __future__ import annotations

from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import Attention, Kernels, Loss, TrainerMemory, TrainerSettings
from planner.model.network.workload import Checkpointing
from planner.scenario.trainers import OneDeviceRecipe, habits_of
from planner.speed.physics.kernels import affirmed, planned_words

IN_CHUNKS = ("liger", "unsloth", "cut cross", "chunked loss", "chunked cross")
"""Names of kernels whose loss never stores all logits, such as Liger's and cut cross-entropy."""
FUSING = ("liger", "unsloth", "torch.compile", "transformerengine", "xla", "cuda/c")
"""Names of kernels that fuse norms, rotary positions and activations."""


def planned_settings(settings: TrainerSettings, framework: str | None, *, one_device: bool = False) -> TrainerSettings:
    """Return a trainer's known settings: stated ones, then those of its named kernels and its habits (trainers.py).

    `one_device`: all weights are trained on a single device (`takes_one_device_recipe`).
    """
    if framework is None:
        return settings
    habits, recipe = habits_of(framework), _recipe_of(framework, one_device=one_device)
    kernels = affirmed(*planned_words(framework))
    loss = None if habits is None else habits.loss
    if any(word in kernels for word in IN_CHUNKS):
        loss = Loss.CHUNKED
    fused = Kernels.FUSED if any(word in kernels for word in FUSING) else None
    defaults = TrainerSettings(
        loss=loss,
        kernels=fused or (None if habits is None else habits.kernels),
        attention=None if habits is None else habits.attention,
        weights=None if habits is None else habits.weights,
        optimizer=None if recipe is None else recipe.optimizer,
    )
    return settings.over(defaults)


def planned_trainer_memory(
    settings: TrainerSettings, framework: str | None, *, one_device: bool = False
) -> TrainerMemory:
    """Return the complete trainer: stated settings, then the framework's, then common defaults."""
    known = planned_settings(settings, framework, one_device=one_device)
    return known.trainer.model_copy(update=_flags(settings, framework, one_device=one_device))


def known_names(settings: TrainerSettings, framework: str | None, *, one_device: bool = False) -> frozenset[str]:
    """Return the names of the trainer's fields that the plan or its framework determines."""
    known = planned_settings(settings, framework, one_device=one_device)
    return frozenset(known.stated) | frozenset(_flags(settings, framework, one_device=one_device))


def _recipe_of(framework: str | None, *, one_device: bool) -> OneDeviceRecipe | None:
    habits = None if framework is None or not one_device else habits_of(framework)
    return None if habits is None else habits.one_device


def _flags(settings: TrainerSettings, framework: str | None, *, one_device: bool) -> dict[str, bool]:
    """Return a trainer's flags, which no plan states. A recipe's flags hold only with the recipe's own optimizer."""
    habits = None if framework is None else habits_of(framework)
    recipe = _recipe_of(framework, one_device=one_device)
    recipe_flags = {} if recipe is None or settings.optimizer not in (None, recipe.optimizer) else recipe.flags
    return ({} if habits is None else habits.flags) | recipe_flags


def assumed_attention(settings: TrainerSettings, framework: str | None, accelerator: Accelerator) -> TrainerSettings:
    """Return the settings with eager attention if neither plan nor trainer determines it and the card is too old.

    FlashAttention has kernels from Ampere on, and software on older cards is mostly as old as they are.
    """
    if planned_settings(settings, framework).attention is not None or accelerator.has_flash_attention:
        return settings
    return settings.model_copy(update={"attention": Attention.EAGER})


def usual_checkpointing(network: Architecture, framework: str | None) -> Checkpointing | None:
    """Return the checkpointing of a framework's recipes for text networks; None if they differ or are not known."""
    habits = None if framework is None or network.sample != "tokens" else habits_of(framework)
    return None if habits is None else habits.checkpointing
