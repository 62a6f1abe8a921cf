"""The file spec.json: settings of a benchmark run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from ..contract.architecture import Architecture

STRATEGIES = ("ddp", "fsdp2", "zero1", "zero2", "zero3")
PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "float8")
DATA_DTYPES = ("uint16", "uint32")
MODES = ("matched", "tuned")
BUSY_DEVICE = ("refuse", "allow")
ATTENTION_KERNELS = ("torch", "trial")
ATTENTION_TARGETS = ("query", "key", "value", "out")
LORA_TARGETS = (*ATTENTION_TARGETS, "gate", "up", "down")

SHORT_WINDOW_S = 10.0
FLOAT8_MULTIPLE = 16  # torch._scaled_mm: both dimensions of its matrices


class SpecError(ValueError):
    """One error in spec.json: where, what, and what would be right."""


@dataclass(frozen=True)
class MeasurementWindow:
    """Lengths of warm-up and measurement. Source: the measurement protocol in workloads/README.md."""

    min_warmup_steps: int
    min_warmup_s: float
    max_warmup_s: float
    min_steps: int
    min_s: float
    max_s: float

    @property
    def is_short(self) -> bool:
        """True for a smoke test, whose steadiness is judged at 5 % instead of 1 %."""
        return self.min_s < SHORT_WINDOW_S

    @property
    def waits_until_steady(self) -> bool:
        """True if the warm-up continues until steps are steady. One of a fixed length is not judged."""
        return self.max_warmup_s > self.min_warmup_s


@dataclass(frozen=True)
class Lora:
    """Low-rank adapters beside the linear maps named by `targets`, the same ones in every block.

    `frozen` says how the other weights are kept: at 16 bit, as fine-tuning loads them, or (null) as in training of all
    weights.
    """

    rank: int
    alpha: float
    targets: Tuple[str, ...]
    frozen: Optional[str] = None


@dataclass(frozen=True)
class DataFiles:
    """File or folder of token shards on the node. `dtype` is the type of raw .bin files."""

    path: str
    dtype: str


@dataclass(frozen=True)
class ProbeTask:
    """Measure kernels of a training step one by one instead of a training. `folder` holds data on the node to read."""

    folder: Optional[str] = None


@dataclass(frozen=True)
class Spec:
    """One benchmark run. `micro_batch` is samples per device and forward pass: sequences of `seq_len`, or images.

    Keys with a default are newer than the first specs and may be left out. The default is what those specs meant.
    """

    workload: str
    architecture: Architecture
    micro_batch: int
    grad_accumulation: int
    strategy: str
    precision: str
    seed: int
    window: MeasurementWindow
    seq_len: Optional[int] = None
    checkpointing: str = "none"
    compile: bool = False
    loss_chunks: int = 1
    method: str = "full"
    lora: Optional[Lora] = None
    calibrate: bool = False
    data: Optional[DataFiles] = None
    mode: str = "matched"
    note: Optional[str] = None
    peer_timeout_s: float = 300.0
    channels_last: bool = False
    busy_device: str = "refuse"
    probe: Optional[ProbeTask] = None
    fused_loss: bool = False
    attention: str = "torch"
    cuda_graphs: bool = False

    def global_batch(self, world_size: int) -> int:
        """Return the samples in one optimizer step of the whole world: micro_batch * grad_accumulation * world_size."""
        return self.micro_batch * self.grad_accumulation * world_size

    @property
    def unit(self) -> str:
        """Unit in which work is counted."""
        return "tokens" if self.architecture.sample == "tokens" else "images"

    @property
    def units_per_sample(self) -> int:
        """Tokens in a sequence; 1 for an image."""
        return self.seq_len or 1

    @property
    def tokens_per_sample(self) -> int:
        """Tokens in a sequence, for a spec whose samples are sequences."""
        assert self.seq_len is not None
        return self.seq_len
