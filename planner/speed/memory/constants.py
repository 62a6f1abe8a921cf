"""Constants of the memory model, counted or fitted to published peaks, and defaults of settings that are not stated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import Kernels, Loss, TrainerMemory
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.training_setup import TrainingSetup

PIECES = 8
"""Chunks of torchtune's chunked loss: its default `num_output_chunks`."""


@dataclass(frozen=True)
class MemoryConstants:
    """Ratios, and bytes per logit; each attribute also states the value that counting gives."""

    working_eager: float = 1.25
    """Memory of a layer while its backward pass runs, over the bytes that the layer saves.

    By counting: the saved tensors, and the gradients of the two largest. For Llama 3 8B those gradients are
    2 x 2 x 14,336 of 225,408 bytes.
    """
    working_fused: float = 1.05
    """Ratio as above if the MLP's gradients overwrite its saved tensors."""
    saved_fused: float = 0.94
    """Bytes that compiled or fused layers save without checkpointing, over the counted bytes. Fitted to the published
    peaks and to two compiled networks on an H100 (0.90 and 1.05)."""
    sharded_adapters: float = 1.2
    """Additional layers in memory if adapters are trained and frozen weights are sharded. Fitted.

    Measured under Hugging Face's FSDP: the previous layer is still allocated while the next one is recomputed. The
    cause is not known.
    """
    eager_logits: float = 12.0
    """Bytes per logit, all in fp32: log-softmax 4, its gradient 4, gradient of the logits 4. Measured on an H100 with
    torch 2.11, in 16 bit and in fp32 (tests/speed/memory/test_h100_memory.py)."""
    fused_logits: float = 8.0
    """Bytes per logit: the 16-bit logits, and an fp32 copy with temporary tensors."""
    slack: float = 1.05
    """Memory reserved by the allocator / memory used by tensors. Measured on an H100: 1.00 to 1.10, with and without
    expandable segments."""
    fsdp2_slack: float = 1.08
    """Ratio as above under FSDP2, which frees copies on a second stream late. Measured on an H100: 1.13 and 1.17;
    published peaks of torchtitan give 1.08 to 1.21."""

    def slack_of(self, strategy: Strategy) -> float:
        """Return the memory reserved by the allocator over the memory used by tensors."""
        return self.fsdp2_slack if strategy is Strategy.FSDP2 else self.slack

    def working(self, kernels: Kernels) -> float:
        """Return a layer's memory while its backward pass runs, over the bytes that it saves."""
        return self.working_fused if kernels is Kernels.FUSED else self.working_eager

    def logits(self, trainer: TrainerMemory, *, number_bytes: int) -> float:
        """Return the bytes per token and vocabulary entry at the loss.

        Compiled: logits and their gradient. In published torchtitan runs, compiling the loss saved 15.8 and 16.6 GiB;
        8 bytes less would be 15.7 GiB, and 10 bytes less 19.6.

        Chunked: the bytes of one chunk, eager or compiled; half a number if the number of chunks is not known.

        Chunked, with the logits of all chunks kept: compiled, only the logits, because gradients overwrite them
        (torchtune's 3B with adapters: 8.5 and 4.6 GiB measured, 8.5 and 4.6 counted). Eager: the logits, their
        log-softmax in fp32, and an fp32 copy of one chunk in eight.
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


class CompleteSetup(NamedTuple):
    """Fields that decide a device's memory; none of them is None."""

    network: Architecture
    micro_batch: int
    strategy: Strategy
    precision: Precision
    checkpointing: Checkpointing


def complete_setup(setup: TrainingSetup) -> CompleteSetup:
    """Return the fields that decide memory. Defaults: micro-batch 1, ddp, bf16, no checkpointing."""
    assert setup.network is not None, "memory cannot be estimated without a network"
    return CompleteSetup(
        setup.network,
        setup.micro_batch or 1,
        setup.strategy or Strategy.DDP,
        setup.precision or Precision.BF16,
        setup.checkpointing or Checkpointing.NONE,
    )
