"""Answer of `planner check-run`: whether a run is as fast as it should be, and what may slow it down."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from planner.model.answer.audit import RunAudit
from planner.model.base import Count, Frozen, Id, NonNegative, Positive, Text
from planner.model.evidence.imported_log import RolloutLog
from planner.model.quantity import FormulaUsed, Quantity


class RunVerdict(StrEnum):
    """A run compared with its expected speed."""

    NORMAL = "normal"
    SLOW = "slow"
    """Below the range."""
    TOO_FAST = "too_fast"
    """Above the range: a stated fact is probably wrong."""
    NOT_KNOWN = "not_known"
    """There is no expectation for such a run, or no fault is proven in it."""


class RunCause(Frozen):
    """A possible cause of a slow run, and the gain from fixing it."""

    code: Id
    text: Text
    evidence: Text
    """Reason for naming it: what the run shows, or how well it explains the gap."""
    proven: bool
    """True if the run itself measured it."""
    probability: Annotated[float, Field(strict=True, gt=0, le=1)]
    """Probability that it is at work here; 1 if the run states it."""
    gain: Positive
    """Speed-up without it."""
    gain_low: Positive
    gain_high: Positive
    free: bool
    """True if fixing it needs no hardware."""
    fix: Text
    test: Text
    """The cheapest test, as a command."""


class RunCandidate(Frozen):
    """A fault that could slow a run by as much as is unexplained."""

    code: Id
    text: Text
    test: Text
    """The cheapest test, as a command."""


class HardwareFix(Frozen):
    """A part that exists for the machine: its price, gain, and the training after which it has paid off."""

    part: Text
    count: Count
    usd: Positive
    """Price of all parts together."""
    usd_low: Positive
    usd_high: Positive
    gain: Positive
    """Speed-up, by the estimator."""
    gain_low: Positive
    gain_high: Positive
    usd_per_hour: Positive | None
    """Cheapest rent of as many such accelerators: the value of the machine's hour."""
    hour_source: Text | None
    payback_hours: Positive | None
    """Hours of training with the part; null if no price of such an hour is known."""
    payback_low: Positive | None
    payback_high: Positive | None
    source: Text


class RunCheckDocument(Frozen):
    """Document of `planner check-run --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["run_check"] = "run_check"
    answer_id: str | None = None
    """Hash of this document and the version. `planner show ID` prints it again. Null in an older answer."""
    run: Id
    workload: Id
    accelerator: Id
    accelerators: Count
    verdict: RunVerdict
    sentence: Text
    measured: Quantity
    expected: Quantity | None
    """Expected speed of the run as stated, from published runs alone."""
    share_of_peak: NonNegative | None
    """MFU: model FLOPs with full attention, without recomputation, relative to the dense peak in the run's number
    format.
    """
    causal_share_of_peak: NonNegative | None = None
    """MFU with causal attention."""
    causes: tuple[RunCause, ...]
    """Three most likely causes, the most likely first."""
    explained: Positive | None = None
    """Speed-up of a slow run without the effect of the causes on its settings."""
    unexplained: Positive | None = None
    """Remaining factor between a slow run and the expected speed; null if the causes explain it."""
    candidates: tuple[RunCandidate, ...] = ()
    """Faults that could explain what the causes do not."""
    hardware_fixes: tuple[HardwareFix, ...]
    """Parts that exist for this machine and help; empty if there are none."""
    formulas: tuple[FormulaUsed, ...] = ()
    """Formulas of the gain and the probability of each cause, by its code; empty in an older answer."""
    parts: dict[str, float]
    """Seconds of the parts of an expected step, by name."""
    assumed: tuple[Text, ...]
    doubts: tuple[Text, ...]
    audit: RunAudit
    """Findings of `planner audit` on whether it can be true."""
    rollouts: RolloutLog | None = None
    """Phases and lengths of a training on its own completions. `expected` then covers only its training passes."""
