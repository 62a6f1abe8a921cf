"""What a trainer does that decides its memory: loss, kernels, optimizer, formats, offload."""

from __future__ import annotations

from enum import StrEnum

from planner.model.base import Frozen


class Loss(StrEnum):
    """How the cross-entropy is computed, which decides what the logits take."""

    EAGER = "eager"
    """As Hugging Face and torch do it: 16-bit logits, an fp32 copy, its log-softmax and its gradient."""
    FUSED = "fused"
    """One kernel over whole logits that keeps an fp32 copy."""
    COMPILED = "compiled"
    """Compiled by itself (torchtitan), or a kernel without an fp32 copy (flash-attn): logits and gradient at 16 bit."""
    CHUNKED = "chunked"
    """A piece of the logits at a time: Liger, cut cross-entropy, torchtune."""


class Kernels(StrEnum):
    """Of norms, rotary positions and activations."""

    EAGER = "eager"
    FUSED = "fused"
    """Compiled blocks, Liger, unsloth, Apex."""


class Optimizer(StrEnum):
    """What is kept of each trained weight between steps."""

    ADAMW = "adamw"
    ADAMW_8BIT = "adamw-8bit"
    """bitsandbytes or torchao; two moments of a byte."""
    ADAMW_4BIT = "adamw-4bit"
    ADAFACTOR = "adafactor"
    """Rows and columns of the second moment."""
    SGD = "sgd"
    """With momentum."""


class WeightFormat(StrEnum):
    """In which format trained weights are kept."""

    MIXED = "mixed"
    """fp32 weights, with 16-bit copies where the products are at 16 bit."""
    SIXTEEN_BIT = "16bit"
    """All at 16 bit, without an fp32 copy: torchtune, and Hugging Face where a model is loaded so."""


class Offload(StrEnum):
    """What lies in the host's memory or on NVMe between its uses."""

    NONE = "none"
    OPTIMIZER = "optimizer"
    ALL = "all"
    """Weights, gradients and optimizer."""


class TrainerMemory(Frozen):
    """A trainer's settings; the defaults are what most run where nobody says otherwise."""

    loss: Loss = Loss.EAGER
    kernels: Kernels = Kernels.EAGER
    optimizer: Optimizer = Optimizer.ADAMW
    weights: WeightFormat = WeightFormat.MIXED
    offload: Offload = Offload.NONE
    fused_step: bool = True
    """The optimizer steps in one kernel; torch's unfused AdamW forms a copy of the gradients first."""
    eager_attention: bool = False
    """The T x T matrix of every head is written out: no flash attention."""
    wide_stream: bool = True
    """Beside whole weights frozen at 4 bit: norms, and with them the stream between layers, in fp32
    (`prepare_model_for_kbit_training` of peft)."""
    step_in_backward: bool = False
    """Each weight is stepped as soon as its gradient is there, which is freed."""
    whole_gradients: bool = False
    """Accumulated gradients are not sharded: Hugging Face under FSDP, `no_sync`."""


USUAL_TRAINER = TrainerMemory()


def trainer_memory(*, compiled: bool, loss_chunks: int = 1) -> TrainerMemory:
    """Return a trainer with one kernel for its step, whose blocks and loss are eager unless they are compiled."""
    loss = Loss.CHUNKED if loss_chunks > 1 else Loss.COMPILED if compiled else Loss.EAGER
    return TrainerMemory(loss=loss, kernels=Kernels.FUSED if compiled else Kernels.EAGER)
