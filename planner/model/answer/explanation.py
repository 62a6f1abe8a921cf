"""Why a number is what it is: `planner explain --json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner.model.answer.formula_used import FormulaInput, FormulaUsed
from planner.model.answer.option_estimate import RankedOption
from planner.model.answer.reason import ReasonCode
from planner.model.answer.training_time import TrainingTime
from planner.model.base import Frozen
from planner.model.currency import Currency
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.model.quantity import Quantity


class EstimatedConfiguration(Frozen):
    """The training that was estimated; null: not known, as the network is not."""

    accelerators: int
    strategy: Strategy
    split: str
    """Degrees of tensor, pipeline, context and expert parallelism; empty where every device has the whole network."""
    micro_batch: float | None
    accumulation: float | None
    """Micro-batches of a step on each replica."""
    checkpointing: Checkpointing | None
    recomputed: float | None
    """Share of the forward pass that is computed again: `recomputed` in the formulas."""
    precision: Precision | None
    """Null: 16 bit, as the accelerator is best at."""


class StepCorrection(Frozen):
    """What the seconds of the formulas are multiplied by: `factor` = effects of labels x correction by own runs."""

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
    """A step whose rate was extrapolated from runs; its parts are not known."""

    runs: tuple[str, ...]
    batch: int | None
    """Samples of a step: the plan's, else the run's."""
    seconds: float | None
    """Batch / rate."""
    ratios: tuple[RatioUsed, ...]
    """Empty between two measured counts."""


class StepPart(Frozen):
    """One part of an optimizer step; the seconds of all parts add up to the step."""

    name: str
    seconds: float
    share: float
    times: float | None = None
    """Seconds / (seconds of the formula x correction): micro-batches of a step, as far as nothing hides them, and what
    is known of the chip and of the framework's kernels. Null: no formula of its own."""
    formula: str
    """As its code prints it; empty where it has none of its own."""
    where: str
    """File and function that compute it."""
    inputs: tuple[FormulaInput, ...] = ()
    """The numbers that the formula names: of the training, the machine and the constants."""


class ConstantUsed(Frozen):
    """One constant of the physics that this answer depends on."""

    name: str
    value: float
    prior: float
    spread: float | None = None
    """Standard deviation of its logarithm before any evidence."""
    low: float
    high: float
    """Limits that the fit never passes."""
    meaning: str
    percent_per_percent: float
    """By how many per cent the step grows when the constant grows by one."""


class LabelEffect(Frozen):
    """What the evidence adds for a label: to the accelerator's own time (chip, accelerator), or to all of a step."""

    level: str
    label: str
    step_factor: float | None
    """Null: no evidence of it."""


class RunEffect(Frozen):
    """One of the measured runs that the answer rests on, and how far it moves the answer."""

    id: str
    """Of a run; of a step that the plan states: `step of ` and the id of its option."""
    weight: float | None
    """How much of the run's error the estimate takes over; null where the answer is the runs' median."""
    without: Quantity | None
    """The throughput if this run did not exist; null: nothing could be said."""
    change_fraction: float | None
    """Throughput with all runs / without this one - 1."""
    different: tuple[str, ...] = ()
    """Fields of the training setup in which the run differs from what is asked."""
    unknown: tuple[str, ...] = ()
    """Fields that the plan states and the run does not."""


class NearRow(Frozen):
    """A published measurement near to the question, and how well the calibration describes it."""

    id: str
    source: str
    accelerator: str
    workload: str
    accelerators: int
    measured_per_s: float
    """Tokens, or images, of one accelerator."""
    modelled_per_s: float
    distance: float
    """In the units within which settings say something of each other; another generation counts 3, framework 1."""


class NextRun(Frozen):
    """A run on a part of the option's machines that nobody has made yet, and what it would do to the range."""

    nodes: int
    accelerators: int
    strategy: Strategy
    half_width: float
    """high / value - 1 of the 90 % range of the option, were this run known and as expected."""


ThroughputFrom = Literal["estimator", "runs", "step", "mfu", "extrapolation", "share_of_peak"]


class OptionExplanation(Frozen):
    """One option of the plan."""

    id: str
    name: str
    throughput: Quantity | None
    physics: Quantity | None
    """What the estimator says, also where a measured run answers; null where it cannot."""
    throughput_from: ThroughputFrom | None = None
    """Where the throughput comes from; null where there is none."""
    fit_chance: float | None = None
    """That it fits its devices; null where nothing was computed, or an older answer."""
    host: str | None = None
    """Memory, vCPU and local disks of a node's host; null where nobody states them."""
    answer: RankedOption | None = None
    """The same option in `planner compare`: its money, days, chances and the doubts of its evidence."""
    setup: dict[str, str] = Field(default_factory=dict)
    """What the plan states of the training, field by field; what it leaves open is not there."""
    configuration: EstimatedConfiguration | None = None
    extrapolation: ExtrapolatedStep | None = None
    correction: StepCorrection | None = None
    step_seconds: float | None
    step_size: float | None
    """Of what one step consumes, in `step_unit`."""
    step_unit: Literal["tokens", "images"] | None
    parts: tuple[StepPart, ...]
    constants: tuple[ConstantUsed, ...]
    """Those that matter, the strongest first."""
    effects: tuple[LabelEffect, ...]
    runs: tuple[RunEffect, ...]
    next_runs: tuple[NextRun, ...] = ()
    """Only where the estimator answers."""
    nearest: tuple[NearRow, ...]
    time: TrainingTime | None
    formulas: tuple[FormulaUsed, ...] = ()
    """Of its money, hours and chances, down to the numbers that files state; empty in an older answer."""
    notes: tuple[str, ...]
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()


class ExplainDocument(Frozen):
    """`planner explain --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["explanation"] = "explanation"
    answer_id: str | None = None
    """A hash of this document; `planner show ID` prints the answer again. Null in an older answer."""
    plan: str
    currency: Currency | None = None
    recommended: str | None = None
    """The id of the option that `planner compare` recommends."""
    confidence: float | None = None
    """As in its document."""
    options: tuple[OptionExplanation, ...]
