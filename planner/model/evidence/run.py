"""A RunRecord: one benchmark run, measured here or taken from a document."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import AnswerId, Count, Flag, Frozen, Id, NonNegative, Number, Positive, Text
from planner.model.evidence.imported_log import ImportedLog
from planner.model.evidence.node_shapes import Whole
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture
from planner.model.network.training_method import TrainingMethod
from planner.model.network.workload import BenchMode, Checkpointing, Precision, Strategy
from planner.model.quantity import Basis, Quantity, Unit


class RunHardware(Frozen):
    """Machine of the run. `node` names a catalog node, or describes one that no catalog knows."""

    accelerator: Id
    """Accelerator, by its name in the catalog."""
    node: Id | None
    """Node; null for a machine outside any catalog. Such runs match only themselves and single accelerators."""
    nodes: Count
    """Nodes of the run."""
    accelerators_per_node: Count
    """Accelerators used in each node."""

    @property
    def accelerators(self) -> int:
        """Number of accelerators of the run."""
        return self.nodes * self.accelerators_per_node


class Probe(Frozen):
    """One short try in the search for a micro-batch, kept as evidence of how full the device is."""

    micro_batch: Count
    """Samples of one forward pass on one accelerator."""
    samples_per_s: Positive | None
    """Rate; null if nothing was measured, for example after running out of memory."""
    grad_accumulation: Count = 1
    """Forward passes of one optimizer step."""
    refused: Text | None = None
    """Reason why this micro-batch is not usable; null if it is."""
    device_memory_fraction: NonNegative | None = None
    """Share of the fullest rank's device that its allocator reserved; null on a CPU and if memory ran out."""

    @property
    def fits(self) -> bool:
        """True if the micro-batch is usable."""
        return self.samples_per_s is not None and self.refused is None


class LaunchFacts(Frozen):
    """Place, terms and cost of a run's launch."""

    run_id: Id | None = None
    """Run id in the ledger; null for a run that was started by hand."""
    target: Text
    """Target as `planner launch --on` reads it."""
    nodes: Count
    """Nodes that were launched."""
    region: Text | None = None
    """Region in which they were launched."""
    purchase: Text
    """Kind of price."""
    price: Quantity | None
    """Price of one node-hour at the time of the launch."""
    no_price_reason: Text | None
    """Reason why the price is unknown."""
    billed: Quantity | None = None
    """Cost of everything that was launched: the ledger's interval x price; null if either is unknown."""
    worst_case_usd: NonNegative | None = None
    """Limit of its cost, in USD."""
    submitted_at: Text | None = None
    """Time of the request."""
    down_at: Text | None = None
    """Time at which its machines were gone."""
    truncated: Flag = False
    """True if stopped before its end. Measurements until then count."""

    @model_validator(mode="after")
    def _units(self) -> Self:
        for name, unit in (("price", Unit.USD_PER_HOUR), ("billed", Unit.USD)):
            quantity: Quantity | None = getattr(self, name)
            if quantity is not None and quantity.unit is not unit:
                raise ValueError(f"{name} is in {quantity.unit}; write it in {unit}")
        if (self.price is None) == (self.no_price_reason is None):
            raise ValueError("needs either price or no_price_reason")
        return self


class RunRecord(Frozen):
    """One run: what was trained, on what, how fast, and the source.

    `throughput` is in samples/s of the whole cluster in steady state. Null means "the source does not say".
    """

    schema_version: Literal[1]
    """Version of the format."""
    id: Id
    """Name of the run."""
    workload: Id
    """Name of the network."""
    architecture: Architecture | None = None
    """Sizes of the network."""
    parameters: Count | None = None
    """Parameters of the network."""
    seq_len: Count | None = None
    """Tokens of a sample; images have none."""
    hardware: RunHardware
    """Machine of the run."""
    strategy: Strategy | None
    """Distribution of states over devices."""
    precision: Precision | None
    """Number format of matrix products."""
    checkpointing: Checkpointing | None = None
    """Activations that the backward pass recomputes."""
    compiled: Flag | None = None
    """True if torch.compile compiles the layers."""
    loss_chunks: Count | None = None
    """Parts in which the loss is computed."""
    objective: TrainingMethod | None = None
    """Objective, if it was not the next token."""
    method: Literal["full", "lora"] | None = None
    """Method: all weights are trained, or low-rank adapters while they are frozen."""
    trained_parameters: Count | None = None
    """Parameters that are trained."""
    adapters: Adapters | None = None
    """Adapters, if only they were trained. Older records do not say."""
    channels_last: Flag | None = None
    """True if convolutions store the colours of a pixel next to each other; null without convolutions."""
    mode: BenchMode | None = None
    """Choice of the micro-batch. Ratios between hardware come from tuned runs."""
    micro_batch: Count | None
    """Samples of one forward pass on one accelerator."""
    grad_accumulation: Count | None = None
    """Forward passes in one optimizer step."""
    global_batch: Count | None
    """Samples of one optimizer step, over all accelerators."""
    data: Literal["synthetic", "shards"] | None = None
    """Data that it read: tokens made beforehand, or the user's own token shards through a real input pipeline."""
    data_wait_fraction: NonNegative | None = None
    """Share of the window in which the slowest-fed rank waited for its input."""
    slowest_rank: Positive | None = None
    """Seconds of the slowest rank's own work relative to the middle rank's, without waiting for each other."""
    throughput: Quantity
    """Samples per second of all accelerators together."""
    step_seconds: Positive | None = None
    """Seconds of one optimizer step."""
    samples: Count | None = None
    """Samples of all measured windows."""
    wall_seconds: Positive | None = None
    """Seconds of all measured windows."""
    power: Quantity | None = None
    """Power of the whole machine."""
    accelerator_power: Quantity | None = None
    """Power of all accelerators together, by their own counters or power readings (the source says which).

    CPUs, fans, network and power supplies are left out.
    """
    repeats: tuple[Positive, ...] = ()
    """Throughput of each process restart, samples/s."""
    device_busy_seconds: NonNegative | None = None
    """Seconds in which the first device works in one step. Below 80 % of a step the host decides the speed."""
    losses_first10: tuple[Number | None, ...] = ()
    """Losses of the first ten steps, averaged over ranks; null if a loss was not finite."""
    state_bytes: dict[str, Whole] = Field(default_factory=dict)
    """Bytes of weights, gradients and optimizer states on the fullest rank, measured: the proof of the strategy."""
    matmul_flops_by_dtype: dict[str, NonNegative] = Field(default_factory=dict)
    """Work of the matrix products in one step of rank 0, by the type they were computed in: the proof of precision."""
    sdpa_backend: Text | None = None
    """Attention kernel that torch chose."""
    memory: dict[str, Number | None] = Field(default_factory=dict)
    """Memory of the fullest rank, as the benchmark names it, with the estimate of a known device."""
    mfu: dict[str, NonNegative] = Field(default_factory=dict)
    """FLOPs by formula / (seconds x peak), by convention and peak: `full_attention_of_nominal_peak`, and so on."""
    probes: tuple[Probe, ...] = ()
    """Every try of a search for the micro-batch, in order."""
    phases: dict[str, NonNegative] = Field(default_factory=dict)
    """Seconds of each part of the run, by its name."""
    topology: tuple[dict[str, Any], ...] = ()
    """Interconnect of each node: links, peer access, PCIe, NUMA, RDMA interfaces, read and raw, as the benchmark names
    them.
    """
    telemetry: tuple[dict[str, Any], ...] = ()
    """Telemetry of each start: energy, power, clocks, throttling of every device over the window."""
    calibration: tuple[dict[str, Any], ...] = ()
    """Calibration of each start that was asked for it: the machine's best rates just before."""
    environment: dict[str, str | int | float | bool | list[str] | None] = Field(default_factory=dict)
    """Versions of software, and facts of the machine."""
    method_version: Count | None = None
    """Version of our own benchmark's method; null for runs taken from documents.

    Versions are never averaged together.
    """
    short_window: Flag = False
    """True if measured for seconds, not minutes: good for a demonstration, weak evidence."""
    verdict: tuple[Text, ...] = ()
    """Problems found in the run, in plain words; empty if there were none."""
    wrong_speed: tuple[Text, ...] = ()
    """Entries of `verdict` that make the speed meaningless: the run did not do what it states.

    Records from before 0.2.0 do not separate them.
    """
    note: Text | None = None
    """A remark."""
    answer_id: AnswerId | None = None
    """Answer that suggested this run, for `planner show`; null if none did."""
    launch: LaunchFacts | None = None
    """Launch of the run; null if measured where the planner ran, or taken from a document."""
    document: Text | None = None
    """The document that a catalog run comes from."""
    log: ImportedLog | None = None
    """Trainer's log that it was read from; null if measured by the benchmark, or taken from a document."""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if self.throughput.unit is not Unit.SAMPLES_PER_S:
            raise ValueError(f"throughput is in {self.throughput.unit}; write it in {Unit.SAMPLES_PER_S}")
        if self.throughput.value <= 0 or self.throughput.low <= 0:
            raise ValueError("throughput must be over 0")
        if self.power is not None and self.power.unit is not Unit.KW:
            raise ValueError(f"power is in {self.power.unit}; write it in {Unit.KW}")
        if self.accelerator_power is not None and self.accelerator_power.unit is not Unit.KW:
            raise ValueError(f"accelerator_power is in {self.accelerator_power.unit}; write it in {Unit.KW}")
        if self.step_seconds is not None and self.global_batch is not None:
            implied = self.global_batch / self.step_seconds
            if abs(implied / self.throughput.value - 1) > 0.01:
                raise ValueError(
                    f"global_batch / step_seconds is {implied:.6g} samples/s, "
                    f"throughput says {self.throughput.value:.6g}"
                )
        return self

    @property
    def basis(self) -> Basis:
        """Basis of the throughput."""
        return self.throughput.basis
