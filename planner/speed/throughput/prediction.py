"""What a model of throughput answers: a number with its doubt and its grounds, or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.answer.rollout_estimate import RolloutEstimate
from planner.model.evidence.run import RunRecord
from planner.model.quantity import Basis
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.speed.estimator.estimator_query import EstimatorQuery
from planner.speed.estimator.shared_causes import Causes


class Ratio(NamedTuple):
    """A factor between a measured run and the answer, and the text to recompute it."""

    what: str
    value: float
    text: str


@dataclass(frozen=True)
class Prediction:
    """Samples/s of the whole cluster in steady state."""

    samples_per_s: Interval
    basis: Basis
    write_source: Callable[[], str]
    """Writes `source`; called when it is asked for, as most of the predictions are only compared."""
    as_of: date | None
    known_from: str
    """The evidence in a line, for people."""
    runs: tuple[RunRecord, ...] = ()
    steps: tuple[Candidate, ...] = ()
    """Options of the plan whose own steps corrected it."""
    notes: tuple[str, ...] = ()
    asked: EstimatorQuery | None = None
    """None: not from physics."""
    causes: Causes = ()
    """Causes of its error that other machines may share, as shares of its standard deviation."""
    ratios: tuple[Ratio, ...] = ()
    """What the rate of the first of `runs` was multiplied by; empty where it was not extrapolated so."""
    rollout: RolloutEstimate | None = None
    """One step of a training on its own completions."""

    @property
    def source(self) -> str:
        """From what a reader can recompute the value."""
        return self.write_source()


@dataclass(frozen=True)
class NoPrediction:
    """Why nothing can be said, and what would help."""

    reason: Reason


def no_prediction(code: ReasonCode, text: str, **figures: float) -> NoPrediction:
    """Return why nothing can be said, worded as it stands in an answer."""
    return not_answered(Reason(code=code, text=text, figures=figures))


def not_answered(reason: Reason) -> NoPrediction:
    """Return what hinders the physics as it stands in an answer."""
    return NoPrediction(reason.model_copy(update={"text": f"no estimate: {reason.text}"}))


def too_small(parameters: int, accelerator: str, lacking: str) -> NoPrediction:
    """Return why nothing can be said of a network that kernel launches bind."""
    bound = f"a network of {parameters:,} parameters is bound by kernel launches on {accelerator}"
    text = f"{bound}, {lacking}: measure it there"
    return no_prediction(ReasonCode.NETWORK_TOO_SMALL, text, parameters=parameters)
