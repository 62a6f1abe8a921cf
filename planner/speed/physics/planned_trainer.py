"""What a plan states of its trainer, in the physics' numbers: kernels, the optimizer's traffic, offload."""

from __future__ import annotations

from planner.model.hardware.machines import Accelerator
from planner.model.network.adapters import Adapters
from planner.model.network.trainer_memory import (
    Attention,
    Kernels,
    Offload,
    Optimizer,
    TrainerSettings,
    WeightFormat,
)
from planner.scenario.trainers import habits_of

GRADIENT_READS = {Optimizer.ADAFACTOR: 3.0}
"""How often a step reads the gradient, where not once: for rows and columns, for the update's size, for the update
(Shazeer and Stern 2018, algorithm 5)."""
ADAM_BYTES = 28.0
"""Weights read and written, gradient read, two moments read and written, all in fp32."""


def planned_trainer(
    settings: TrainerSettings, *, adapters: Adapters | None, sixteen_bit: bool, paged: float
) -> dict[str, float]:
    """Return what stated settings change of a configuration.

    bytes of a step and parameter = 2 x weight + reads x gradient + 2 x moments, against Adam's 28. `paged`: the share
    of a paged optimizer's moments that the device has no room for; they cross to the host and back in every step.
    Weights that wait on the host cost no more than the optimizer there, as in the evidence: they cross while layers
    are computed.
    """
    narrow = settings.weights is WeightFormat.SIXTEEN_BIT and sixteen_bit and adapters is None
    optimizer = settings.optimizer or Optimizer.ADAMW
    each = 2.0 if narrow else 4.0
    moments = optimizer.moment_bytes(narrow=narrow)
    changed = {
        "optimizer_scale": (2 * each + GRADIENT_READS.get(optimizer, 1.0) * each + 2 * moments) / ADAM_BYTES,
        "optimizer_offload": float(settings.offload in (Offload.OPTIMIZER, Offload.ALL)),
        "paged_bytes": 2 * moments * paged,
    }
    if settings.kernels is not None:
        changed["fused"] = float(settings.kernels is Kernels.FUSED)
    if settings.kernels is Kernels.EAGER:
        changed["compiled"] = 0.0
    if settings.weights is WeightFormat.SIXTEEN_BIT:
        changed["autocast"] = 0.0
    if narrow:
        changed["gradient_bytes"] = 2.0
    return changed


def planned_attention(settings: TrainerSettings, framework: str | None, accelerator: Accelerator) -> dict[str, float]:
    """Return how attention is computed: as stated, else as the trainer does, else as is usual on the card.

    The matrix is written out where nobody says more of a card without FlashAttention. Where torch chooses there, it is
    the kernel of xformers, which is as fast as the first FlashAttention was.
    """
    habits = None if framework is None else habits_of(framework)
    attention = settings.attention or (None if habits is None else habits.attention)
    if attention is None:
        attention = Attention.SDPA if accelerator.has_flash_attention else Attention.EAGER
    fused = attention is not Attention.EAGER
    return {"flash": float(fused), "early": float(fused and not accelerator.has_flash_attention)}
