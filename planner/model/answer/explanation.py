"""Explanation of a number (`planner explain --json`), and the formulas behind an answer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner.model.answer.documents import PlacedRuns
from planner.model.answer.option_estimate import RankedOption
from planner.model.answer.reason import ReasonCode
from planner.model.answer.training_time import TrainingTime
from planner.model.base import Frozen
from planner.model.currency import Currency
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.model.quantity import FormulaInput, FormulaUsed, Quantity


class EstimatedConfiguration(Frozen):
    """The training that was estimated. A field is null if it is unknown, because the network is."""

    accelerators: int
    strategy: Strategy
    split: str
    """Degrees of tensor, pipeline, context and expert parallelism; empty if every device has the whole network."""
    micro_batch: float | None
    accumulation: float | None
    """Micro-batches of a step on each replica."""
    checkpointing: Checkpointing | None
    recomputed: float | None
    """Share of the forward pass that is recomputed: `recomputed` in the formulas."""
    precision: Precision | None
    """Number format; null means the 16-bit format that is best on the accelerator."""


class StepCorrection(Frozen):
    """Factor on the seconds of the formulas: `factor` = effects of labels x correction by own runs."""

    factor: float
    by_labels: float
    by_runs: float
    runs: int


class RatioUsed(Frozen):
    """One of the factors between a measured run and an extrapolated rate."""

    what: str
    value: float
    formula: str


class ExtrapolatedStep(Frozen):
    """A step whose rate was extrapolated from runs. Its parts are unknown."""

    runs: tuple[str, ...]
    batch: int | None
    """Samples of a step: the plan's, otherwise the run's."""
    seconds: float | None
    """Seconds of a step: batch / rate."""
    ratios: tuple[RatioUsed, ...]
    """Factors of the extrapolation; empty between two measured counts."""


class StepPart(Frozen):
    """One part of an optimizer step; the seconds of all parts add up to the step."""

    name: str
    seconds: float
    share: float
    times: float | None = None
    """Seconds / (seconds of the formula x correction); null without a formula of its own.

    It covers the micro-batches of a step that are not hidden, and what is known of the chip and of the framework's
    kernels.
    """
    formula: str
    """Formula as its code prints it; empty if the part has none of its own."""
    where: str
    """File and function that compute it."""
    inputs: tuple[FormulaInput, ...] = ()
    """Numbers that the formula names: of the training, the machine and the constants."""


class ConstantUsed(Frozen):
    """One constant of the physics that this answer depends on."""

    name: str
    value: float
    prior: float
    spread: float | None = None
    """Standard deviation of its logarithm before any evidence."""
    low: float
    high: float
    """Limits that the fit never exceeds."""
    meaning: str
    percent_per_percent: float
    """Per cent by which the step grows when the constant grows by one per cent."""


class LabelEffect(Frozen):
    """Effect of a label in the evidence: on the accelerator's own time (chip, accelerator), or on the whole step."""

    level: str
    label: str
    step_factor: float | None
    """Factor on the whole step; null without evidence."""


class RunEffect(Frozen):
    """A measured run behind the answer, with its effect on the answer."""

    id: str
    """Id of the run; for a step that the plan states, `step of ` and the id of its option."""
    weight: float | None
    """Share of the run's error that the estimate adopts; null if the answer is the runs' median."""
    without: Quantity | None
    """Throughput without this run; null if nothing could be said."""
    change_fraction: float | None
    """Throughput with all runs / without this one - 1."""
    different: tuple[str, ...] = ()
    """Fields of the training setup in which the run differs from the question."""
    unknown: tuple[str, ...] = ()
    """Fields that the plan states and the run does not."""


class NearRow(Frozen):
    """A published measurement similar to the question, and how well the calibration describes it."""

    id: str
    source: str
    accelerator: str
    workload: str
    accelerators: int
    measured_per_s: float
    """Tokens, or images, per second of one accelerator."""
    modelled_per_s: float
    distance: float
    """Distance in the units within which settings inform each other. Another generation counts 3, framework 1."""


class NextRun(Frozen):
    """A run on a part of the option's machines that was not made yet, and its effect on the range."""

    nodes: int
    accelerators: int
    strategy: Strategy
    half_width: float
    """Half width (high / value - 1) of the option's 90 % range if this run were known and as expected."""


ThroughputFrom = Literal["estimator", "runs", "step", "mfu", "extrapolation", "share_of_peak"]


class OptionExplanation(Frozen):
    """One option of the plan."""

    id: str
    name: str
    throughput: Quantity | None
    physics: Quantity | None
    """The estimator's value, even if a measured run answers; null if there is none."""
    throughput_from: ThroughputFrom | None = None
    """Source of the throughput; null if there is none."""
    fit_chance: float | None = None
    """Chance that it fits its devices; null if nothing was computed, or in an older answer."""
    host: str | None = None
    """Memory, vCPU and local disks of a node's host; null if not stated."""
    answer: RankedOption | None = None
    """The option in `planner compare`: its money, days, chances and the doubts about its evidence."""
    setup: dict[str, str] = Field(default_factory=dict)
    """Stated fields of the training. Fields that the plan leaves open are absent."""
    configuration: EstimatedConfiguration | None = None
    extrapolation: ExtrapolatedStep | None = None
    correction: StepCorrection | None = None
    step_seconds: float | None
    step_size: float | None
    """Amount that one step consumes, in `step_unit`."""
    step_unit: Literal["tokens", "images"] | None
    parts: tuple[StepPart, ...]
    constants: tuple[ConstantUsed, ...]
    """Constants that matter, the strongest first."""
    effects: tuple[LabelEffect, ...]
    runs: tuple[RunEffect, ...]
    next_runs: tuple[NextRun, ...] = ()
    """Suggested runs, only if the estimator answers."""
    nearest: tuple[NearRow, ...]
    time: TrainingTime | None
    formulas: tuple[FormulaUsed, ...] = ()
    """Formulas of its money, hours and chances, down to the numbers in files; empty in an older answer."""
    notes: tuple[str, ...]
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()


class ExplainDocument(Frozen):
    """Document of `planner explain --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["explanation"] = "explanation"
    answer_id: str | None = None
    """Hash of this document. `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None = None
    recommended: str | None = None
    """Id of the option that `planner compare` recommends; of single options the best one if it recommends a mix."""
    mix: tuple[PlacedRuns, ...] = ()
    """Parts of the mix that `planner compare` recommends; empty if it recommends a single option."""
    confidence: float | None = None
    """Confidence, as in the document of `planner compare`."""
    options: tuple[OptionExplanation, ...]
