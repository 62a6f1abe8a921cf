"""Trainer settings of a plan as facts for the physics: kernels, the optimizer's traffic, offload."""

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
"""Number of times that a step reads the gradient, if not once. Adafactor reads it for rows and columns, for the size of
the update, and for the update (Shazeer and Stern 2018, algorithm 5)."""
ADAM_BYTES = 28.0
"""Bytes per parameter of Adam's step in fp32: weight read and written, gradient read, two moments read and written."""


def planned_trainer(
    settings: TrainerSettings, *, adapters: Adapters | None, sixteen_bit: bool, paged: float
) -> dict[str, float]:
    """Return the fields of `Configs` that stated settings change.

    optimizer_scale = (2 x weight + reads x gradient + 2 x moments) / Adam's 28 bytes

    `paged` is the share of a paged optimizer's moments for which the device has no room; they move to the host and back
    in every step. Weights in host memory add no time to an offloaded optimizer, as in the evidence: they move while
    layers are computed.
    """
    narrow = settings.weights is WeightFormat.SIXTEEN_BIT and sixteen_bit and adapters is None
    optimizer = settings.optimizer or Optimizer.ADAMW
    weight = gradient = 2.0 if narrow else 4.0
    moments = optimizer.moment_bytes(narrow=narrow)
    changed = {
        "optimizer_scale": (2 * weight + GRADIENT_READS.get(optimizer, 1.0) * gradient + 2 * moments) / ADAM_BYTES,
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
    """Return the fields `flash` and `early` of `Configs`: as stated, else the trainer's, else the card's default.

    By default a card with FlashAttention uses a fused kernel, and an older card an eager one. If torch selects a fused
    kernel on an older card, it is that of xformers, which is as fast as the first FlashAttention.
    """
    habits = None if framework is None else habits_of(framework)
    attention = settings.attention or (None if habits is None else habits.attention)
    if attention is None:
        attention = Attention.SDPA if accelerator.has_flash_attention else Attention.EAGER
    fused = attention is not Attention.EAGER
    return {"flash": float(fused), "early": float(fused and not accelerator.has_flash_attention)}
