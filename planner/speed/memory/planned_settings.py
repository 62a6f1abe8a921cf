"""What a plan's framework does that decides memory, under what the plan states itself."""

from __future__ import annotations

from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import Attention, Kernels, Loss, TrainerMemory, TrainerSettings
from planner.model.network.workload import Checkpointing
from planner.scenario.trainers import OneDeviceRecipe, habits_of
from planner.speed.physics.kernels import affirmed, planned_words

IN_CHUNKS = ("liger", "unsloth", "cut cross", "chunked loss", "chunked cross")
"""Words of kernels whose loss never holds all logits: Liger's fused linear cross-entropy, cut cross-entropy."""
FUSING = ("liger", "unsloth", "torch.compile", "transformerengine", "xla", "cuda/c")
"""Words of kernels that fuse norms, rotary positions and activations."""


def planned_settings(settings: TrainerSettings, framework: str | None, *, one_device: bool = False) -> TrainerSettings:
    """Return what is known of a trainer: what is stated, else what kernels' words and its name say (trainers.py).

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
    usual = TrainerSettings(
        loss=loss,
        kernels=fused or (None if habits is None else habits.kernels),
        attention=None if habits is None else habits.attention,
        weights=None if habits is None else habits.weights,
        optimizer=None if recipe is None else recipe.optimizer,
    )
    return settings.over(usual)


def planned_trainer_memory(
    settings: TrainerSettings, framework: str | None, *, one_device: bool = False
) -> TrainerMemory:
    """Return the trainer with these settings, what its framework does, and usual ones besides."""
    known = planned_settings(settings, framework, one_device=one_device)
    return known.trainer.model_copy(update=_flags(settings, framework, one_device=one_device))


def known_names(settings: TrainerSettings, framework: str | None, *, one_device: bool = False) -> frozenset[str]:
    """Return the fields of a trainer that are known: stated, or said by its framework."""
    known = planned_settings(settings, framework, one_device=one_device)
    return frozenset(known.stated) | frozenset(_flags(settings, framework, one_device=one_device))


def _recipe_of(framework: str | None, *, one_device: bool) -> OneDeviceRecipe | None:
    habits = None if framework is None or not one_device else habits_of(framework)
    return None if habits is None else habits.one_device


def _flags(settings: TrainerSettings, framework: str | None, *, one_device: bool) -> dict[str, bool]:
    """Return what a trainer does that no plan states; its recipe steps so with its own optimizer alone."""
    habits = None if framework is None else habits_of(framework)
    recipe = _recipe_of(framework, one_device=one_device)
    of_recipe = {} if recipe is None or settings.optimizer not in (None, recipe.optimizer) else recipe.flags
    return ({} if habits is None else habits.flags) | of_recipe


def assumed_attention(settings: TrainerSettings, framework: str | None, accelerator: Accelerator) -> TrainerSettings:
    """Return the settings with attention written out where neither plan nor trainer says more and the card is too old.

    FlashAttention has kernels from Ampere on; what runs on older cards is mostly of that time too.
    """
    if planned_settings(settings, framework).attention is not None or accelerator.has_flash_attention:
        return settings
    return settings.model_copy(update={"attention": Attention.EAGER})


def usual_checkpointing(network: Architecture, framework: str | None) -> Checkpointing | None:
    """Return what a framework's recipes recompute of a text network; None where they differ, or nobody knows."""
    habits = None if framework is None or network.sample != "tokens" else habits_of(framework)
    return None if habits is None else habits.checkpointing
