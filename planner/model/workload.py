"""What is trained: the network, its precision and how it is spread over devices."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.errors import InputError
from planner.model.base import Count, Frozen, Id, NonNegative, Positive, Text


class Precision(StrEnum):
    """The number format of the matrix products in training."""

    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"


class Strategy(StrEnum):
    """How states and work are spread over the devices."""

    DDP = "ddp"
    FSDP2 = "fsdp2"
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    ZERO3 = "zero3"


class Checkpointing(StrEnum):
    """Which activations are recomputed in the backward pass."""

    NONE = "none"
    SELECTIVE = "selective"
    """Per operator: attention and every second matrix product are kept."""
    FULL = "full"


class Loss(StrEnum):
    """How the cross-entropy is computed, which decides what the logits take."""

    EAGER = "eager"
    FUSED = "fused"
    """Compiled, chunked, or one kernel: no fp32 copies of the logits."""


class Method(StrEnum):
    """Which weights are trained: all of them, or low-rank adapters beside frozen ones (Hu et al. 2021)."""

    FULL = "full"
    LORA = "lora"


class BenchMode(StrEnum):
    """How the benchmark chooses a micro-batch."""

    MATCHED = "matched"
    """The same one everywhere: the workload's own."""
    TUNED = "tuned"
    """The best of this device, at the workload's global batch by accumulation."""


class Decoder(Frozen):
    """A dense decoder-only transformer; the same keys stand in the benchmark's `spec.json`."""

    layers: Count
    hidden: Count
    heads: Count
    kv_heads: Count
    head_dim: Count
    ffn_hidden: Count
    mlp: Literal["gelu", "swiglu"]
    norm: Literal["layernorm", "rmsnorm"]
    norm_eps: Positive = 1e-5
    bias: bool = False
    positions: Literal["learned", "rope"]
    max_positions: Count
    rope_theta: Positive = 10_000.0
    qk_norm: bool = False
    vocab: Count
    tied_head: bool

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.heads % self.kv_heads:
            raise ValueError(f"heads ({self.heads}) must be a multiple of kv_heads ({self.kv_heads})")
        return self


class Window(Frozen):
    """How long the benchmark warms up and measures (workloads/README.md)."""

    min_warmup_steps: Count
    min_warmup_s: NonNegative
    max_warmup_s: Positive
    min_steps: Count
    min_s: NonNegative
    max_s: Positive


STANDARD_WINDOW = Window(min_warmup_steps=10, min_warmup_s=30, max_warmup_s=300, min_steps=50, min_s=60, max_s=120)
"""What a measurement takes unless its preset says otherwise."""
QUICK_WINDOW = Window(min_warmup_steps=10, min_warmup_s=1, max_warmup_s=10, min_steps=20, min_s=3, max_s=10)
"""A first look."""


class FirstLosses(Frozen):
    """How the loss begins, as a plain fp32 loop of one process on a CPU found it, with seed 0."""

    global_batch: Count
    losses: tuple[Positive, ...]


class BenchWorkload(Frozen):
    """What the benchmark runs: a network, its samples, and for how long."""

    name: Id
    architecture: Decoder
    seq_len: Count
    micro_batch: Count
    precision: Precision
    window: Window
    quick_window: Window
    global_batch: Count | None = None
    """Samples of one optimizer step in tuned mode; null: micro_batch x devices."""
    least_mfu: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Of the nominal peak, full attention: a run below it has something wrong."""
    first_losses: tuple[FirstLosses, ...] = ()
    note: Text | None = None
    """What must be said with every record of it."""

    def cut(self, *, layers: int) -> BenchWorkload:
        """Return the same network with fewer layers, so that it fits one device: another workload, and named so."""
        whole = self.architecture.layers
        if layers >= whole:
            raise InputError(
                f"{self.name} has {whole} layers; {layers} would be no cut.", fix="Take fewer, or leave --layers out."
            )
        return BenchWorkload(
            name=f"{self.name}-{layers}layer{'' if layers == 1 else 's'}",
            architecture=self.architecture.model_copy(update={"layers": layers}),
            seq_len=self.seq_len,
            micro_batch=self.micro_batch,
            precision=self.precision,
            window=self.window,
            quick_window=self.quick_window,
            global_batch=self.global_batch,
            note=f"A cut of {self.name} to {layers} of its {whole} layers: it shows how such layers train, and is no "
            f"measurement of {self.name}",
        )


class Preset(BenchWorkload):
    """A workload that the planner knows by name: `catalogs/workloads/*.yaml`."""

    schema_version: Literal[1]
    description: Text
    source: Text
    as_of: date


class ArchitectureFile(Frozen):
    """A network of one's own: an architecture, and how long its samples are."""

    schema_version: Literal[1] = 1
    name: Text | None = None
    architecture: Decoder
    seq_len: Count
    micro_batch: Count = 1
    precision: Precision = Precision.BF16
