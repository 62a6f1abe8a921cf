"""Inner structure of a result.json, as far as the planner reads it. Further keys are left alone.

A node is foreign: what it wrote is checked here, once. Later code never meets a text where it expects a number, a list
where it expects a mapping, or an impossible number.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from planner.model.base import Count, Flag, Frozen, Id, NonNegative, Positive, Text
from planner.model.network.architecture import Architecture
from planner.model.network.workload import BenchMode, Checkpointing, Precision, Strategy
from planner.redact import clean, clean_data

Whole = Annotated[int, Field(strict=True, ge=0, le=10**18)]


DEEPEST_NESTING = 30
MOST_ITEMS = 1_000_000
"""Largest number of items of all lists and mappings of one value together."""
FIRST_YEAR, LAST_YEAR = 2015, 2200

Cleaned = Annotated[str, Field(max_length=20_000), AfterValidator(clean)]
Small = Annotated[int, Field(strict=True, ge=0, le=10**9)]
WholeNumber = Annotated[int, Field(strict=True, ge=-(10**18), le=10**18)]
Figure = Annotated[float, Field(strict=True, ge=-1e18, le=1e18)]


class _Shape(BaseModel):
    """Base of the shapes. Keys that are not named are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)


class _LoraShape(_Shape):
    rank: Count
    targets: tuple[Id, ...] | Id
    frozen: Literal["16bit"] | None = None


class _SpecShape(_Shape):
    """Instructions of the run, as far as a record states them."""

    workload: Id
    architecture: Architecture
    micro_batch: Annotated[int, Field(strict=True, ge=1, le=10**9)]
    grad_accumulation: Annotated[int, Field(strict=True, ge=1, le=10**9)] = 1
    strategy: Strategy
    precision: Precision
    checkpointing: Checkpointing = Checkpointing.NONE
    compile: bool = False
    loss_chunks: Annotated[int, Field(strict=True, ge=1, le=10**9)] = 1
    mode: BenchMode = BenchMode.MATCHED
    method: Literal["full", "lora"] = "full"
    channels_last: bool = False
    seq_len: Annotated[int, Field(strict=True, ge=1, le=10**9)] | None = None
    lora: _LoraShape | None = None
    note: Text | None = None

    @model_validator(mode="after")
    def _texts_have_a_length(self) -> Self:
        if self.seq_len is None and self.architecture.sample == "tokens":
            raise ValueError("seq_len is missing, the length of its samples")
        return self

    seed: Small = 0


class _DeviceShape(_Shape):
    """One device over the window."""

    compute_processes: Small | None = None
    throttled_share: NonNegative | None = None
    throttle_shares: dict[str, NonNegative] | None = None
    power_limit_w: NonNegative | None = None
    default_power_limit_w: NonNegative | None = None


class _TelemetryShape(_Shape):
    devices: tuple[_DeviceShape, ...] = ()
    energy_j: NonNegative | None = None
    energy_from: Cleaned | None = None
    seconds: NonNegative | None = None


class _CalibrationShape(_Shape):
    matmul_tflop_per_s: NonNegative | None = None
    rank_matmul_tflop_per_s: tuple[NonNegative, ...] | None = None


class _ProbeShape(_Shape):
    """Kernels one by one. Each is checked where it becomes a record."""

    kernels: tuple[dict[str, Any], ...]
    left_out: tuple[Cleaned, ...] = ()
    sustained: dict[str, Any] | None = None
    seconds: NonNegative


def _shaped(shape: type[BaseModel]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a check of a mapping against a shape. The check returns the mapping itself, without secrets."""

    def check(value: dict[str, Any]) -> dict[str, Any]:
        bounded(value)
        shape.model_validate(value)
        cleaned: dict[str, Any] = clean_data(value)
        return cleaned

    return check


def bounded(value: Any) -> Any:
    """Return plain data unchanged.

    ValueError if it is nested too deeply, too large, or holds a number that is not finite.
    """
    level, seen = [value], 0
    for _ in range(DEEPEST_NESTING):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += item.values()
            elif isinstance(item, list | tuple):
                below += item
            elif isinstance(item, int | float) and not -1e18 <= item <= 1e18:
                raise ValueError("holds a number that nothing measures")
        seen += len(below)
        if seen > MOST_ITEMS:
            raise ValueError(f"holds more than {MOST_ITEMS:,} values")
        if not below:
            return value
        level = below
    raise ValueError("is nested too deeply")


def _a_day(text: str) -> str:
    """Return a time of day as it is written. ValueError if its date is implausible."""
    try:
        year = datetime.fromisoformat(text).year
    except ValueError:
        raise ValueError("is not a time, such as 2026-11-21T09:00:00Z") from None
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise ValueError(f"is in the year {year}")
    return text


SpecFacts = Annotated[dict[str, Any], AfterValidator(_shaped(_SpecShape))]
TelemetryFacts = Annotated[dict[str, Any], AfterValidator(_shaped(_TelemetryShape))]
CalibrationFacts = Annotated[dict[str, Any], AfterValidator(_shaped(_CalibrationShape))]
ProbeFacts = Annotated[dict[str, Any], AfterValidator(_shaped(_ProbeShape))]
TopologyFacts = Annotated[dict[str, Any], AfterValidator(_shaped(_Shape))]
When = Annotated[str, Field(min_length=10, max_length=40), AfterValidator(_a_day)]


Devices = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]


class NodeResult(Frozen):
    """The benchmark's `result.json` as a node wrote it; its facts become a RunRecord.

    The keys are those of `workloads/README.md`. `node_shapes.py` checks the inner ones. Secrets that a library's
    message may repeat are removed.
    """

    schema_version: Literal[1]
    kind: Literal["result"]
    method_version: Count
    exit_reason: Id
    error: Cleaned | None
    spec: SpecFacts
    parameters: Count | None
    trained_parameters: Count | None = None
    world_size: Devices
    nodes: Devices
    devices_per_node: Devices
    device_type: Literal["cpu", "cuda"] | None
    backend: Text | None
    global_batch: Count | None
    warmup_steps: Whole
    warmup_steady: Flag
    steps: Whole
    step_seconds: tuple[Positive, ...]
    window_s: NonNegative
    rank_step_seconds: tuple[NonNegative, ...] = ()
    rank_work_seconds: tuple[NonNegative, ...] = ()
    data_wait_s: NonNegative | None = None
    device_busy_seconds: NonNegative | None = None
    busy_before_share: NonNegative | None = None
    samples: Whole
    tokens: Whole | None
    padding_tokens: Whole | None
    """Number of padding tokens; null if samples are images."""
    images: Whole | None = None
    """Number of images with a label; null if samples are sequences."""
    phases: dict[str, NonNegative]
    losses_first10: tuple[Figure | None, ...]
    loss_last: Figure | None
    memory: dict[str, NonNegative | None]
    state_bytes: dict[str, Whole] = Field(default_factory=dict)
    matmul_flops_by_dtype: dict[str, NonNegative] = Field(default_factory=dict)
    sdpa_backend: Cleaned | None
    tf32_allowed: Flag
    topology: tuple[TopologyFacts, ...] = ()
    calibration: CalibrationFacts | None = None
    probe: ProbeFacts | None = None
    """Probe that replaces a training, if the spec asks for one."""
    telemetry: TelemetryFacts | None = None
    environment: dict[str, Cleaned | WholeNumber | Figure | bool | list[Cleaned] | None]
    disk_problem: Cleaned | None = None
    started_at: When
    finished_at: When
