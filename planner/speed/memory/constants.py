"""The constants of the memory model: counted, or fitted to published peaks (benchmarks/memory_accuracy.py)."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.network.trainer_memory import Kernels, Loss


@dataclass(frozen=True)
class MemoryConstants:
    """Pure numbers and bytes; what they should be by counting stands beside them."""

    working_eager: float = 1.25
    """Of what a whole layer saves, while its backward pass runs: that, and the gradients of its two largest tensors; of
    Llama 3 8B 2 x 2 x 14,336 of 225,408 bytes."""
    working_fused: float = 1.05
    """The same where the MLP's gradients take the place of its tensors."""
    saved_fused: float = 0.73
    """Of what eager layers save without checkpointing, where compiled or fused ones save less. Fitted."""
    sharded_adapters: float = 1.2
    """Whole layers held besides, where adapters stand beside sharded weights: the one before is still there while the
    next is computed again, as measured under Hugging Face's FSDP; what holds it is not known. Fitted."""
    eager_logits: float = 14.0
    """Bytes: 16-bit logits 2, their fp32 copy 4, its log-softmax 4, its gradient 4."""
    fused_logits: float = 8.0
    """Bytes: 16-bit logits, and an fp32 copy with something beside it."""
    slack: float = 1.04
    """Of what tensors take, what the allocator reserves for them when it is short."""

    def working(self, kernels: Kernels) -> float:
        """Return the share of a layer that works."""
        return self.working_fused if kernels is Kernels.FUSED else self.working_eager

    def logits(self, loss: Loss, *, number_bytes: int) -> float:
        """Bytes per token and vocabulary entry at the loss.

        compiled: logits and their gradient (between published torchtitan runs, compiling the loss saved 15.8 and 16.6
        GiB, where 8 bytes less are 15.7 and 10 are 19.6). chunked: what is whole for a moment. In fp32 an eager loss
        has no copy of its logits.
        """
        if loss is Loss.EAGER:
            return self.eager_logits - (2.0 if number_bytes == 4 else 0.0)
        if loss is Loss.FUSED:
            return self.fused_logits
        return (2.0 if loss is Loss.COMPILED else 0.5) * number_bytes


FITTED = MemoryConstants()
