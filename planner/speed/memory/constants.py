"""The constants of the memory model: counted, or fitted to published peaks (benchmarks/memory_accuracy.py)."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.network.trainer_memory import Kernels, Loss, TrainerMemory
from planner.model.network.workload import Strategy

PIECES = 8
"""Of torchtune's chunked loss: its default `num_output_chunks`."""


@dataclass(frozen=True)
class MemoryConstants:
    """Pure numbers and bytes; what they should be by counting stands beside them."""

    working_eager: float = 1.25
    """Of what a whole layer saves, while its backward pass runs: that, and the gradients of its two largest tensors; of
    Llama 3 8B 2 x 2 x 14,336 of 225,408 bytes."""
    working_fused: float = 1.05
    """The same where the MLP's gradients take the place of its tensors."""
    saved_fused: float = 0.94
    """Of what is counted for compiled or fused layers without checkpointing, what they save. Fitted, with two compiled
    networks on an H100 (0.90 and 1.05) beside the published peaks."""
    sharded_adapters: float = 1.2
    """Whole layers held besides, where adapters stand beside sharded weights: the one before is still there while the
    next is computed again, as measured under Hugging Face's FSDP; what holds it is not known. Fitted."""
    eager_logits: float = 12.0
    """Bytes, all fp32: the log-softmax 4, its gradient 4, the logits' gradient 4. Measured on an H100 with torch 2.11,
    in 16 bit and in fp32 (tests/speed/memory/test_h100_memory.py)."""
    fused_logits: float = 8.0
    """Bytes: 16-bit logits, and an fp32 copy with something beside it."""
    slack: float = 1.05
    """Reserved by the allocator / taken by tensors. Measured on an H100: 1.00 to 1.10, with expandable segments and
    without."""
    fsdp2_slack: float = 1.08
    """The same under FSDP2, whose copies on a second stream are freed late. Measured on an H100: 1.13 and 1.17; in the
    published peaks of torchtitan 1.08 to 1.21."""

    def slack_of(self, strategy: Strategy) -> float:
        """Return what the allocator reserves, as a multiple of what tensors take."""
        return self.fsdp2_slack if strategy is Strategy.FSDP2 else self.slack

    def working(self, kernels: Kernels) -> float:
        """Return the share of a layer that works."""
        return self.working_fused if kernels is Kernels.FUSED else self.working_eager

    def logits(self, trainer: TrainerMemory, *, number_bytes: int) -> float:
        """Return the bytes per token and vocabulary entry at the loss.

        compiled: logits and their gradient (between published torchtitan runs, compiling the loss saved 15.8 and 16.6
        GiB, where 8 bytes less are 15.7 and 10 are 19.6). chunked: those of one piece, eager or compiled; where the
        number of pieces is not known, half a number. Where the logits of all pieces stay, compiled: they, whose
        gradients take their place (torchtune's 3B with adapters: 8.5 and 4.6 GiB, counted 8.5 and 4.6); eager: they,
        their log-softmax in fp32, and an fp32 copy of the piece (one of eight).
        """
        if trainer.loss is Loss.FUSED:
            return self.fused_logits
        compiled = 2.0 * number_bytes
        if trainer.loss is Loss.CHUNKED:
            if trainer.keeps_pieces:
                fused = trainer.kernels is Kernels.FUSED
                return float(number_bytes) if fused else number_bytes + 4.0 + 4.0 / PIECES
            if trainer.loss_chunks is None:
                return 0.5 * number_bytes
            return (compiled if trainer.kernels is Kernels.FUSED else self.eager_logits) / trainer.loss_chunks
        return compiled if trainer.loss is Loss.COMPILED else self.eager_logits


FITTED = MemoryConstants()
