"""What a plan's framework does that decides memory, under what the plan states itself."""

from __future__ import annotations

from planner.model.hardware.machines import Accelerator
from planner.model.network.trainer_memory import Attention, Kernels, Loss, TrainerMemory, TrainerSettings
from planner.scenario.trainers import habits_of
from planner.speed.physics.kernels import affirmed, planned_words

IN_CHUNKS = ("liger", "unsloth", "cut cross", "chunked loss", "chunked cross")
"""Words of kernels whose loss never holds all logits: Liger's fused linear cross-entropy, cut cross-entropy."""
FUSING = ("liger", "unsloth", "torch.compile", "transformerengine", "xla", "cuda/c")
"""Words of kernels that fuse norms, rotary positions and activations."""


def planned_settings(settings: TrainerSettings, framework: str | None) -> TrainerSettings:
    """Return what is known of a trainer: what is stated, else what kernels' words and its name say (trainers.py)."""
    if framework is None:
        return settings
    habits = habits_of(framework)
    kernels = affirmed(*planned_words(framework))
    loss = None if habits is None else habits.loss
    if any(word in kernels for word in IN_CHUNKS):
        loss = Loss.CHUNKED
    fused = Kernels.FUSED if any(word in kernels for word in FUSING) else None
    usual = TrainerSettings(
        loss=loss,
        kernels=fused or (None if habits is None else habits.kernels),
        attention=None if habits is None else habits.attention,
    )
    return settings.over(usual)


def planned_trainer_memory(settings: TrainerSettings, framework: str | None) -> TrainerMemory:
    """Return the trainer with these settings, what its framework does, and usual ones besides."""
    habits = None if framework is None else habits_of(framework)
    flags = {} if habits is None else habits.flags
    return planned_settings(settings, framework).trainer.model_copy(update=flags)


def known_names(settings: TrainerSettings, framework: str | None) -> frozenset[str]:
    """Return the fields of a trainer that are known: stated, or said by its framework."""
    habits = None if framework is None else habits_of(framework)
    return frozenset(planned_settings(settings, framework).stated) | frozenset({} if habits is None else habits.flags)


def assumed_attention(settings: TrainerSettings, framework: str | None, accelerator: Accelerator) -> TrainerSettings:
    """Return the settings with attention written out where neither plan nor trainer says more and the card is too old.

    FlashAttention has kernels from Ampere on; what runs on older cards is mostly of that time too.
    """
    if planned_settings(settings, framework).attention is not None or accelerator.has_flash_attention:
        return settings
    return settings.model_copy(update={"attention": Attention.EAGER})
