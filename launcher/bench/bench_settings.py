"""Settings of a benchmark, as the user chooses them."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.network.workload import (
    BenchMode,
    BusyDevice,
    Checkpointing,
    Precision,
    Strategy,
)


@dataclass(frozen=True)
class LoraSettings:
    """Train adapters of this rank beside frozen weights. `targets` are the spec's names of linear maps."""

    rank: int
    targets: tuple[str, ...]
    alpha: float = 32.0


@dataclass(frozen=True)
class DataSettings:
    """File or folder of token shards on the node. `dtype` is the type of raw .bin files."""

    path: str
    dtype: str = "uint16"


@dataclass(frozen=True)
class ProbeSettings:
    """Measure kernels one by one instead of a training. `folder` holds data on the node for testing read speed."""

    folder: str | None = None


@dataclass(frozen=True)
class BenchSettings:
    """Settings chosen by the user; None stands for the workload's own value."""

    devices: int
    """Number of processes over all nodes."""
    series: tuple[int, ...] = ()
    """All device counts of the series that this run belongs to. One micro-batch must serve each of them."""
    strategy: Strategy = Strategy.DDP
    precision: Precision | None = None
    mode: BenchMode = BenchMode.MATCHED
    micro_batch: int | None = None
    search_micro_batch: bool = False
    start_micro_batch: int | None = None
    """First size that the search tries: the largest that fits by the memory estimate."""
    most_micro_batch: int | None = None
    """Largest size that the memory estimate does not rule out. The search goes beyond it only if memory remains."""
    global_batch: int | None = None
    repeats: int = 1
    quick: bool = False
    checkpointing: Checkpointing = Checkpointing.NONE
    compile: bool = False
    loss_chunks: int = 1
    fused_loss: bool = False
    """True to compute gradients together with the loss, so that no matrix product runs twice."""
    attention_by_trial: bool = False
    """True to choose the fastest fused attention kernel at the run's sizes, instead of torch's choice."""
    cuda_graphs: bool = False
    channels_last: bool = True
    """True to store the colours of a pixel together if images go into convolutions, as their kernels prefer."""
    lora: LoraSettings | None = None
    """Adapters to train; None trains all weights."""
    calibrate: bool = False
    """True to calibrate before the first start; the machine stays the same."""
    data: DataSettings | None = None
    """Training data; None means synthetic tokens."""
    busy_device: BusyDevice = BusyDevice.REFUSE
    probe: ProbeSettings | None = None
    """Kernel measurement; None measures a training."""

    @property
    def searches(self) -> bool:
        """True if the run searches: in tuned mode, unless a search for a smaller count found the micro-batch."""
        return self.search_micro_batch or (self.mode is BenchMode.TUNED and self.micro_batch is None)
