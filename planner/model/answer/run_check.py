"""The answer of `planner check-run`: is this run as fast as it should be, and what may hold it back."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from planner.model.answer.audit import RunAudit
from planner.model.answer.formula_used import FormulaUsed
from planner.model.base import Count, Frozen, Id, NonNegative, Positive, Text
from planner.model.evidence.rollout_log import RolloutLog
from planner.model.quantity import Quantity


class RunVerdict(StrEnum):
    """How a run compares with what is expected of it."""

    NORMAL = "normal"
    SLOW = "slow"
    """Below the range."""
    TOO_FAST = "too_fast"
    """Above the range: something stated of it is probably wrong."""
    NOT_KNOWN = "not_known"
    """Nothing is expected of such a run, or no fault is proven in it."""


class RunCause(Frozen):
    """Something that may hold the run back, and what mending it gives."""

    code: Id
    text: Text
    evidence: Text
    """Why it is named: what the run shows, or how well it explains the gap."""
    proven: bool
    """By what the run itself measured."""
    probability: Annotated[float, Field(strict=True, gt=0, le=1)]
    """That it is at work here; 1 of what the run states."""
    gain: Positive
    """Times as fast without it."""
    gain_low: Positive
    gain_high: Positive
    free: bool
    """To mend it costs no hardware."""
    fix: Text
    test: Text
    """The cheapest test, as a command."""


class RunCandidate(Frozen):
    """A fault that could slow a run by as much as nothing else explains."""

    code: Id
    text: Text
    test: Text
    """The cheapest test, as a command."""


class HardwareFix(Frozen):
    """A part that exists for the machine: its price, what it gives, and after how much training it has paid."""

    part: Text
    count: Count
    usd: Positive
    """Of all of them."""
    usd_low: Positive
    usd_high: Positive
    gain: Positive
    """Times as fast, by the estimator."""
    gain_low: Positive
    gain_high: Positive
    usd_per_hour: Positive | None
    """Of as many such accelerators, rented where they cost least: what an hour of the machine is worth."""
    hour_source: Text | None
    payback_hours: Positive | None
    """Of training with the part; null where no price of such an hour is known."""
    payback_low: Positive | None
    payback_high: Positive | None
    source: Text


class RunCheckDocument(Frozen):
    """`--json` of `planner check-run`."""

    schema_version: Literal[1] = 1
    kind: Literal["run_check"] = "run_check"
    answer_id: str | None = None
    """Of this document and the version; `planner show ID` prints it again. Null in an older answer."""
    run: Id
    workload: Id
    accelerator: Id
    accelerators: Count
    verdict: RunVerdict
    sentence: Text
    measured: Quantity
    expected: Quantity | None
    """Of the run as it is stated, from published runs alone."""
    share_of_peak: NonNegative | None
    """MFU: model FLOPs with full attention, without recomputation, of the dense peak in the run's number format."""
    causal_share_of_peak: NonNegative | None = None
    """The same with causal attention."""
    causes: tuple[RunCause, ...]
    """The likeliest three, the first first."""
    explained: Positive | None = None
    """Of a slow run: times as fast without what the causes add to its settings."""
    unexplained: Positive | None = None
    """Of a slow run: what remains between it and the expected speed then; null where the causes explain it."""
    candidates: tuple[RunCandidate, ...] = ()
    """Faults that could explain what the causes do not."""
    hardware_fixes: tuple[HardwareFix, ...]
    """Parts that exist for this machine and gain something; empty where none does."""
    formulas: tuple[FormulaUsed, ...] = ()
    """Of the gain and the probability of each cause, by its code; empty in an older answer."""
    parts: dict[str, float]
    """Of an expected step, by the part's name."""
    assumed: tuple[Text, ...]
    doubts: tuple[Text, ...]
    audit: RunAudit
    """Can it be true: the findings of `planner audit` on it."""
    rollouts: RolloutLog | None = None
    """Phases and lengths of a training on its own completions; `expected` is then of its training passes alone."""
