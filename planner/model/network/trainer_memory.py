"""Trainer settings that decide its memory: loss, kernels, optimizer, formats, offload."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from planner.model.base import Frozen


class Loss(StrEnum):
    """Computation of the cross-entropy, which decides the memory of the logits."""

    EAGER = "eager"
    """torch's cross-entropy over fp32 logits: at the fullest moment their log-softmax and two gradients in fp32."""
    FUSED = "fused"
    """One kernel over whole logits that keeps an fp32 copy."""
    COMPILED = "compiled"
    """Compiled separately (torchtitan), or a kernel without an fp32 copy (flash-attn): logits and gradient at 16 bit.
    """
    CHUNKED = "chunked"
    """A piece of the logits at a time: Liger, cut cross-entropy, torchtune."""


class Kernels(StrEnum):
    """Kernels of norms, rotary positions and activations."""

    EAGER = "eager"
    FUSED = "fused"
    """Compiled blocks, Liger, unsloth, Apex."""


class Attention(StrEnum):
    """Computation of attention scores."""

    EAGER = "eager"
    """Written out: the T x T matrix of every head, its softmax and dropout."""
    SDPA = "sdpa"
    """torch's scaled_dot_product_attention, which picks a kernel that never writes the matrix on any card since 2.0."""
    FLASH = "flash"
    """FlashAttention, on cards from Ampere on."""


class Optimizer(StrEnum):
    """Optimizer states of each trained weight between steps."""

    ADAMW = "adamw"
    ADAMW_8BIT = "adamw-8bit"
    """bitsandbytes or torchao; two moments of a byte."""
    ADAMW_4BIT = "adamw-4bit"
    ADAFACTOR = "adafactor"
    """Rows and columns of the second moment."""
    SGD = "sgd"
    """SGD with momentum."""
    PAGED_ADAMW = "paged-adamw"
    """bitsandbytes: its moments wait in the host's memory, page by page, if the device is short of memory."""
    PAGED_ADAMW_8BIT = "paged-adamw-8bit"

    @property
    def resident(self) -> Optimizer:
        """Return the same optimizer with all of its moments on the device."""
        return RESIDENT.get(self, self)

    @property
    def is_paged(self) -> bool:
        """True if moments may leave the device."""
        return self in RESIDENT

    def moment_bytes(self, *, narrow: bool) -> float:
        """Return the bytes kept of a parameter, on the device or the host.

        `narrow` means that the weights have 16 bits and no fp32 copy.
        """
        return MOMENTS[self.resident][narrow]


RESIDENT = {Optimizer.PAGED_ADAMW: Optimizer.ADAMW, Optimizer.PAGED_ADAMW_8BIT: Optimizer.ADAMW_8BIT}
MOMENTS = {
    Optimizer.ADAMW: (8.0, 4.0),
    Optimizer.ADAMW_8BIT: (2.0, 2.0),
    Optimizer.ADAMW_4BIT: (1.0, 1.0),
    Optimizer.ADAFACTOR: (0.0, 0.0),
    Optimizer.SGD: (4.0, 2.0),
}
"""Bytes of a parameter with fp32 weights, and if everything is kept at 16 bit. Dettmers et al. 2022; torchao."""


class WeightFormat(StrEnum):
    """Format of trained weights."""

    MIXED = "mixed"
    """fp32 weights, with 16-bit copies if the products are at 16 bit."""
    SIXTEEN_BIT = "16bit"
    """All at 16 bit, without an fp32 copy: torchtune, and Hugging Face if a model is loaded like this."""


class Offload(StrEnum):
    """States that are kept in the host's memory or on NVMe between uses."""

    NONE = "none"
    OPTIMIZER = "optimizer"
    ALL = "all"
    """Weights, gradients and optimizer."""


class TrainerMemory(Frozen):
    """Settings of a trainer. The defaults are the most common ones."""

    loss: Loss = Loss.EAGER
    kernels: Kernels = Kernels.EAGER
    optimizer: Optimizer = Optimizer.ADAMW
    weights: WeightFormat = WeightFormat.MIXED
    offload: Offload = Offload.NONE
    fused_step: bool = True
    """True if the optimizer steps in one kernel. torch's unfused AdamW copies the gradients first."""
    eager_attention: bool = False
    """True if the T x T matrix of every head is written out: no flash attention."""
    wide_stream: bool = True
    """True if, with weights frozen at 4 bit, norms and the stream between layers are in fp32
    (`prepare_model_for_kbit_training` of peft).
    """
    copies_gradients: bool = True
    """True for DeepSpeed's ZeRO, whose step forms fp32 copies of its gradients.

    Megatron's are in fp32 from the start.
    """
    keeps_frozen_inputs: bool = False
    """True if maps frozen at 4 or 8 bit keep their inputs, which no gradient needs: bitsandbytes before 0.43.2."""
    offloads_inputs: bool = False
    """True if what recomputed layers keep waits in the host's memory: unsloth's gradient checkpointing."""
    step_in_backward: bool = False
    """True if each weight is stepped as soon as its gradient exists, which is then freed."""
    whole_gradients: bool = False
    """True if accumulated gradients are not sharded: Hugging Face under FSDP, `no_sync`."""
    fused_norms: bool = False
    """True if an eager RMSNorm is one kernel that saves only its input:

    `torch.nn.functional.rms_norm` on CUDA from torch 2.9 on. Hugging Face's own modules save two fp32 copies of it.
    """
    repeated_heads: bool = False
    """True if grouped key and value heads are repeated for the attention kernel."""
    gradient_buckets: bool = False
    """True if ddp uses DistributedDataParallel even on one device, whose gradient buckets stay between steps."""
    keeps_pieces: bool = False
    """True if a chunked loss keeps the logits of all its pieces until its backward pass: torchtune."""
    narrow_adapters: bool = False
    """True if adapters are kept at 16 bit, with gradients and moments: torchtune. peft keeps them in fp32."""
    double_quantized: bool = False
    """True if 4-bit weights have their scales at 8 bit."""
    one_map_at_a_time: bool = False
    """True if, with adapters, a backward pass forms only what a layer saves, and expands one frozen map at a time."""
    loss_chunks: int | None = None
    """Pieces of a chunked loss; None if they are too small to count."""

    @property
    def norms_save_input_alone(self) -> bool:
        """True if the norms are one kernel each."""
        return self.fused_norms or self.kernels is Kernels.FUSED


USUAL_TRAINER = TrainerMemory()


class TrainerSettings(Frozen):
    """Trainer settings that a plan, a file or a question states; None if not stated."""

    loss: Loss | None = None
    """Computation of the loss: eager (torch, Hugging Face; 12 bytes a logit), fused, compiled, chunked (Liger).

    Default: the framework's, otherwise eager, or in chunks if nothing else fits.
    """
    kernels: Kernels | None = None
    """Kernels of norms and activations: eager or fused. Default: the framework's."""
    optimizer: Optimizer | None = None
    """Optimizer states of each trained weight. Default: adamw, two moments in fp32."""
    weights: WeightFormat | None = None
    """Format of trained weights: mixed keeps them in fp32, 16bit without such a copy. Default: mixed."""
    offload: Offload | None = None
    """States that wait in the host's memory or on NVMe: none, optimizer, all. Default: none."""
    attention: Attention | None = None
    """Computation of attention: eager (written out), sdpa, flash. Default: the framework's choice on the card."""

    @property
    def stated(self) -> dict[str, Any]:
        """Stated settings by name."""
        found = {name: getattr(self, name) for name in TrainerSettings.model_fields}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def trainer(self) -> TrainerMemory:
        """Trainer with the stated settings, and the most common ones otherwise."""
        update: dict[str, object] = {name: value for name, value in self.stated.items() if name != "attention"}
        return USUAL_TRAINER.model_copy(update=update | {"eager_attention": self.attention is Attention.EAGER})

    def over(self, usual: TrainerSettings) -> TrainerSettings:
        """Return these settings, completed by those of another one."""
        return TrainerSettings.model_validate(usual.stated | self.stated)


NOTHING_STATED = TrainerSettings()


def trainer_memory(*, compiled: bool) -> TrainerMemory:
    """Return a trainer with one kernel for its step, whose blocks and loss are eager unless they are compiled."""
    return TrainerMemory(
        loss=Loss.COMPILED if compiled else Loss.EAGER, kernels=Kernels.FUSED if compiled else Kernels.EAGER
    )


def benchmark_trainer(*, compiled: bool, loss_chunks: int = 1, fused_norms: bool = True) -> TrainerMemory:
    """Return the settings of this project's own benchmark (workloads/).

    Grouped heads are repeated, and DistributedDataParallel wraps the model even on one device. Source: tensors alive at
    the fullest moment on an H100 with torch 2.11 (tests/speed/memory/test_h100_memory.py).
    """
    settings = {"fused_norms": fused_norms, "repeated_heads": True, "gradient_buckets": True}
    chunked = {"loss": Loss.CHUNKED, "loss_chunks": loss_chunks} if loss_chunks > 1 else {}
    return trainer_memory(compiled=compiled).model_copy(update=settings | chunked)
