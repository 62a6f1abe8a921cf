"""A ProbeRecord: the building blocks of a training step, each measured separately on one machine, on one day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from planner.model.base import AnswerId, Count, Flag, Frozen, Id, NonNegative, Number, Positive, Text
from planner.model.evidence.run import LaunchFacts, RunHardware
from planner.model.network.workload import Precision


class KernelKind(StrEnum):
    """Kinds of kernels that are measured separately."""

    PRODUCTS = "products"
    ATTENTION = "attention"
    ELEMENTWISE = "elementwise"
    LOSS = "loss"
    OPTIMIZER = "optimizer"
    LAYER = "layer"
    LAUNCHES = "launches"
    COPY = "copy"
    HOST_TO_DEVICE = "host_to_device"
    DEVICE_TO_HOST = "device_to_host"
    READ = "read"
    ALL_REDUCE = "all_reduce"
    ALL_GATHER = "all_gather"
    REDUCE_SCATTER = "reduce_scatter"


KIND_NAMES = {
    KernelKind.PRODUCTS: "matrix products",
    KernelKind.ATTENTION: "attention",
    KernelKind.ELEMENTWISE: "element-wise chains",
    KernelKind.LOSS: "output layer and loss",
    KernelKind.OPTIMIZER: "optimizer steps",
    KernelKind.LAYER: "layer steps",
    KernelKind.LAUNCHES: "kernel launches",
    KernelKind.COPY: "copies on the device",
    KernelKind.HOST_TO_DEVICE: "copies to the device",
    KernelKind.DEVICE_TO_HOST: "copies to the host",
    KernelKind.READ: "reading data",
    KernelKind.ALL_REDUCE: "all-reduce",
    KernelKind.ALL_GATHER: "all-gather",
    KernelKind.REDUCE_SCATTER: "reduce-scatter",
}
"""Names of the kinds in sentences."""
NEEDED = {
    KernelKind.PRODUCTS: ("tokens", "hidden", "kv_dim", "ffn_hidden", "inputs", "outputs", "times"),
    KernelKind.ATTENTION: ("batch", "heads", "head_dim", "length"),
    KernelKind.ELEMENTWISE: ("tokens", "hidden", "kv_dim", "ffn_hidden"),
    KernelKind.LOSS: ("tokens", "hidden", "vocabulary"),
    KernelKind.OPTIMIZER: ("parameters",),
    KernelKind.LAYER: ("batch", "length", "hidden", "kv_dim", "ffn_hidden", "head_dim"),
    KernelKind.LAUNCHES: ("batch", "length", "hidden", "kv_dim", "ffn_hidden", "head_dim"),
}
"""Numbers that a shape needs. All other kinds need the bytes."""
MOST_KERNELS = 10_000


class KernelTime(Frozen):
    """One kernel, or one layer, of one shape: the seconds of a call, forward and backward if it has both."""

    kind: KernelKind
    """Kind of kernel."""
    shape: dict[str, Count]
    """Sizes by name."""
    precision: Precision | None = None
    """Number format; null if there is no choice."""
    kernel: Text | None = None
    """Name of the kernel among several. "chosen: flash" is the one that torch chooses by itself."""
    compiled: Flag = False
    """True if torch.compile made it."""
    devices: Count = 1
    """Number of devices of a collective."""
    seconds: Positive
    """Median of its calls, on the slowest device."""
    rounds: Count
    """Calls that were timed."""

    @model_validator(mode="after")
    def _has_its_sizes(self) -> Self:
        missing = [name for name in NEEDED.get(self.kind, ("bytes",)) if name not in self.shape]
        if missing:
            raise ValueError(f"shape: {missing[0]} is missing, which {KIND_NAMES[self.kind]} have")
        if self.kind in (KernelKind.PRODUCTS, KernelKind.ATTENTION, KernelKind.LAYER) and self.precision is None:
            raise ValueError(f"precision is missing, which {KIND_NAMES[self.kind]} have")
        return self

    @property
    def key(self) -> tuple[object, ...]:
        """Key that two probes must share for one kernel to be compared."""
        shape = tuple(sorted(self.shape.items()))
        return self.kind, shape, self.precision, self.kernel, self.compiled, self.devices


class SustainedFacts(Frozen):
    """Products over 20 s or more: how far their rate falls, with clocks and power."""

    seconds: Positive
    """Duration of the products."""
    first_tflop_per_s: Positive
    """Median of the first third."""
    last_tflop_per_s: Positive
    """Median of the last third."""
    clock_mhz: Positive | None = None
    """Mean clock of the first device, or of the processor's cores."""
    power_w: Positive | None = None
    """Mean power of the first device, or of the processor's packages."""
    power_limit_w: Positive | None = None
    """Power limit that the driver sets for the first device."""
    throttled_share: NonNegative | None = None
    """Share of the readings in which something lowered the clocks."""
    unknown_because: Text | None = None
    """Reason why clocks or power are unknown."""


class ProbeRecord(Frozen):
    """One probe: the machine, the day, and the seconds of each kernel."""

    schema_version: Literal[1]
    """Version of the format."""
    id: Id
    """Name of the probe."""
    hardware: RunHardware
    """Machine of the probe."""
    measured_on: date
    """Day of the probe."""
    kernels: tuple[KernelTime, ...] = Field(min_length=1, max_length=MOST_KERNELS)
    """Measured kernels."""
    sustained: SustainedFacts | None = None
    """Clocks and power over many seconds."""
    left_out: tuple[Text, ...] = ()
    """Kernels that were not measured, with the reason."""
    seconds: Positive
    """Duration of the probe."""
    environment: dict[str, str | int | Number | bool | list[str] | None] = Field(default_factory=dict)
    """Versions of software, and facts of the machine."""
    verdict: tuple[Text, ...] = ()
    """Reasons to doubt it. A probe with a verdict corrects no estimate."""
    answer_id: AnswerId | None = None
    """Answer that suggested this probe; null if none did."""
    launch: LaunchFacts | None = None
    """Launch of the probe; null if measured where the planner ran."""

    @property
    def of_kind(self) -> dict[KernelKind, list[KernelTime]]:
        """Return its kernels by kind."""
        found: dict[KernelKind, list[KernelTime]] = defaultdict(list)
        for kernel in self.kernels:
            found[kernel.kind].append(kernel)
        return dict(found)

    def refers_to(self, accelerator: str) -> bool:
        """Return whether it was measured on this kind of accelerator."""
        return self.hardware.accelerator == accelerator


def same_kind(probe: ProbeRecord, others: Sequence[ProbeRecord]) -> list[ProbeRecord]:
    """Return the probes of the same kind and number of accelerators, itself among them."""
    return [other for other in others if other.hardware.accelerators == probe.hardware.accelerators
            and other.refers_to(probe.hardware.accelerator)]  # fmt: skip
