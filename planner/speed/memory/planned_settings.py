"""What a plan's framework does that decides memory, under what the plan states itself."""

from __future__ import annotations

from planner.model.network.trainer_memory import Kernels, Loss, TrainerSettings
from planner.scenario.frameworks import planned_family
from planner.speed.physics.kernels import affirmed, planned_words

IN_CHUNKS = ("liger", "unsloth", "cut cross", "chunked loss", "chunked cross")
"""Words of kernels whose loss never holds all logits: Liger's fused linear cross-entropy, cut cross-entropy."""
FUSING = ("liger", "unsloth", "torch.compile", "transformerengine", "xla", "cuda/c")
"""Words of kernels that fuse norms, rotary positions and activations."""
USUAL_LOSS = {
    "torchtune": Loss.CHUNKED,
    "torchtitan": Loss.COMPILED,
    "megatron": Loss.FUSED,
    "jax": Loss.COMPILED,
    "llm.c": Loss.COMPILED,
}
"""torchtune's `CEWithChunkedOutputLoss` (its recipes), torchtitan's compiled loss (its `compile.components`),
Megatron's cross-entropy over fp32 logits (megatron-core), XLA's fused one, llm.c's, which writes the gradient over the
logits."""
ALWAYS_FUSED = ("megatron", "llm.c", "jax")


def planned_settings(settings: TrainerSettings, framework: str | None) -> TrainerSettings:
    """Return what is known of a trainer: what is stated, else what its framework and its kernels' words say."""
    if framework is None:
        return settings
    family = planned_family(framework)
    kernels = affirmed(*planned_words(framework))
    loss = Loss.CHUNKED if any(word in kernels for word in IN_CHUNKS) else USUAL_LOSS.get(family)
    fused = family in ALWAYS_FUSED or any(word in kernels for word in FUSING)
    return settings.over(TrainerSettings(loss=loss, kernels=Kernels.FUSED if fused else None))
