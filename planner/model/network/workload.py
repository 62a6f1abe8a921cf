"""Workloads: the network, its precision and distribution, and a training as a trainer's files state it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from planner.errors import InputError
from planner.model.base import Count, Day, Frozen, Id, NonNegative, Positive, Text, not_a_tiny_share
from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.architecture import Architecture, check_seq_len
from planner.model.network.trainer_memory import TrainerSettings
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings


class Precision(StrEnum):
    """Number format of the matrix products in training."""

    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"
    FLOAT8 = "float8"
    """Linear maps in 8-bit floats (e4m3, scaled per tensor), everything else in bf16."""


def usual_frozen(precision: Precision | None) -> FrozenFormat | None:
    """Return the default format of weights that are not trained: that of the products.

    At 16 bit, also if no precision is named, which means 16 bit. None means fp32, with fp32 and TF32 products.
    """
    return None if precision in (Precision.FP32, Precision.TF32) else FrozenFormat.SIXTEEN_BIT


class Strategy(StrEnum):
    """Distribution of states and work over the devices."""

    DDP = "ddp"
    FSDP2 = "fsdp2"
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    ZERO3 = "zero3"


@dataclass(frozen=True)
class Split:
    """Parts into which a network is divided. Further accelerators are replicas."""

    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    experts: int = 1
    """Devices among replicas and context over which a layer's routed experts are spread."""
    shards: int | None = None
    """Replicas over which weights are sharded, with a copy in each such group (hybrid sharding, HSDP);

    None means all of them.
    """

    @property
    def devices(self) -> int:
        """Accelerators of one replica."""
        return self.tensor * self.pipeline * self.context

    def largest_stage(self, layers: int) -> int:
        """Return the layers of the largest pipeline stage: layers / stages, rounded up."""
        return -(-layers // self.pipeline)

    def stage_share(self, layers: int) -> float:
        """Return the share of the layers in the largest pipeline stage."""
        return self.largest_stage(layers) / layers

    def __str__(self) -> str:
        degrees = {"tensor": self.tensor, "pipeline": self.pipeline, "context": self.context, "experts": self.experts}
        said = [f"{name} {degree}" for name, degree in degrees.items() if degree > 1]
        return ", ".join([*said, *([] if self.shards is None else [f"sharded over {self.shards}"])])


WHOLE = Split()
"""Split in which every accelerator holds the whole network, or what ZeRO leaves of it."""


class Checkpointing(StrEnum):
    """Activations that are recomputed in the backward pass."""

    NONE = "none"
    SELECTIVE = "selective"
    """Per operator: attention and every second matrix product are kept."""
    FULL = "full"


class Method(StrEnum):
    """Weights that are trained: all of them, or low-rank adapters while they are frozen (Hu et al. 2021)."""

    FULL = "full"
    LORA = "lora"


class BenchMode(StrEnum):
    """Choice of the micro-batch in the benchmark."""

    MATCHED = "matched"
    """The workload's own micro-batch everywhere."""
    TUNED = "tuned"
    """The best micro-batch of this device, at the workload's global batch by accumulation."""


class BusyDevice(StrEnum):
    """Behaviour of a benchmark if other processes use a device."""

    REFUSE = "refuse"
    """It does not start."""
    ALLOW = "allow"
    """It measures while they run, and its verdict says so."""


class Window(Frozen):
    """Lengths of warm-up and measurement in the benchmark (workloads/README.md)."""

    min_warmup_steps: Count
    min_warmup_s: NonNegative
    max_warmup_s: Positive
    min_steps: Count
    min_s: NonNegative
    max_s: Positive


STANDARD_WINDOW = Window(min_warmup_steps=10, min_warmup_s=30, max_warmup_s=300, min_steps=50, min_s=60, max_s=120)
"""Window of a measurement unless its preset says otherwise."""
QUICK_WINDOW = Window(min_warmup_steps=10, min_warmup_s=1, max_warmup_s=10, min_steps=20, min_s=3, max_s=10)
"""Window of a quick look."""


class FirstLosses(Frozen):
    """First losses of a plain fp32 loop of one process on a CPU, with seed 0."""

    global_batch: Count
    losses: tuple[Positive, ...]


class BenchWorkload(Frozen):
    """Content of a benchmark: a network, its samples, and the duration."""

    name: Id
    architecture: Architecture
    seq_len: Count | None = None
    """Tokens in a sample; null if a sample is an image."""
    micro_batch: Count
    precision: Precision
    window: Window
    quick_window: Window
    global_batch: Count | None = None
    """Samples of one optimizer step in tuned mode; null for micro_batch x devices."""
    least_mfu: Annotated[float, Field(strict=True, gt=0, lt=1), AfterValidator(not_a_tiny_share)] | None = None
    """Lowest plausible share of the nominal peak with full attention, with any kernels, eager ones included."""
    least_mfu_compiled: Annotated[float, Field(strict=True, gt=0, lt=1), AfterValidator(not_a_tiny_share)] | None = None
    """Lowest plausible share under torch.compile; null for `least_mfu`."""
    first_losses: tuple[FirstLosses, ...] = ()
    note: Text | None = None
    """Remark for every record of it."""

    @model_validator(mode="after")
    def _samples_have_their_size(self) -> Self:
        check_seq_len(self.architecture, self.seq_len)
        return self

    def cut(self, *, layers: int) -> BenchWorkload:
        """Return the same network with fewer layers, so that it fits one device.

        It is another workload with its own name.
        """
        if self.architecture.is_convolutional:
            raise InputError(
                f"{self.name} is a resnet, whose stages differ: no cut of it would show how the whole trains.",
                fix="Leave --layers out.",
            )
        whole = self.architecture.layers
        if layers >= whole:
            raise InputError(
                f"{self.name} has {whole} layers; {layers} would be no cut.", fix="Take fewer, or leave --layers out."
            )
        try:
            cut = self.architecture.cut(layers)
        except ValueError as error:
            raise InputError(f"{self.name} cannot be cut to {layers} layers: {error}.", fix="Take more.") from error
        return BenchWorkload(
            name=f"{self.name}-{layers}layer{'' if layers == 1 else 's'}",
            architecture=cut,
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
    """A workload that the planner knows by name: `catalogs/workloads/*.yaml`, rows of `catalogs/networks.csv`."""

    schema_version: Literal[1]
    names: tuple[Text, ...] = ()
    """Other names, such as "meta-llama/Llama-3.1-8B". `name_key` tells which spellings are one name."""
    description: Text
    source: Text
    as_of: Day


class ArchitectureFile(TrainerSettings):
    """A user's own network: an architecture, and the length of its samples (if they are not images)."""

    schema_version: Literal[1] = 1
    name: Text | None = None
    architecture: Architecture
    seq_len: Count | None = None
    micro_batch: Count = 1
    precision: Precision = Precision.BF16
    adapters: Adapters | None = None
    objective: MethodSettings = NEXT_TOKEN
    """Objective, if it is not the next token: `method` and its fields, as in a plan's `training`."""
    framework: Text | None = None
    """Framework as in a plan's `training`, as are loss, kernels, optimizer, weights and offload.

    Memory and strategies read them; the benchmark has its own options.
    """

    @model_validator(mode="after")
    def _samples_have_their_size(self) -> Self:
        check_seq_len(self.architecture, self.seq_len)
        return self


class TextPart(ArchitectureFile):
    """A text network that is part of several. Its name says which part is left out."""

    left_out: Text
    """Parts that are left out, in words: vision, sound."""


class StatedTraining(ArchitectureFile):
    """A network, and everything that the files of its training state; None if they do not state it."""

    stated_precision: Precision | None = None
    stated_seq_len: Count | None = None
    stated_micro_batch: Count | None = None
    strategy: Strategy | None = None
    checkpointing: Checkpointing | None = None
    accumulation: Count | None = None
    global_batch: Count | None = None
    epochs: Positive | None = None
    planned_steps: Count | None = None
    packing: bool | None = None
    accelerator: Text | None = None
    """Accelerator as the files write it."""
    accelerators: Count | None = None
    """Number of accelerators of all nodes."""
    nodes: Count | None = None
    divided: Text | None = None
    """Division of layers over accelerators, in words; None if each has whole layers."""

    def global_batch_on(self, accelerators: int) -> int | None:
        """Return the samples of a step: as stated, otherwise micro-batch x accumulation x accelerators."""
        if self.global_batch is not None or self.stated_micro_batch is None:
            return self.global_batch
        return self.stated_micro_batch * (self.accumulation or 1) * accelerators
