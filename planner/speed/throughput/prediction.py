"""Answers of a throughput model: a rate with range and evidence, or the reason why there is none."""

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
from planner.speed.estimator.network_kind import EstimatorQuery
from planner.speed.estimator.shared_causes import Causes


class Ratio(NamedTuple):
    """Factor between a measured run and the answer, with the text to recompute it."""

    what: str
    value: float
    text: str


@dataclass(frozen=True)
class Prediction:
    """Samples/s of the whole cluster in steady state."""

    samples_per_s: Interval
    basis: Basis
    write_source: Callable[[], str]
    """Function that returns `source`. It is called on demand, because most predictions are only compared."""
    as_of: date | None
    known_from: str
    """Evidence in one line, for people."""
    runs: tuple[RunRecord, ...] = ()
    steps: tuple[Candidate, ...] = ()
    """Options of the plan whose steps corrected the prediction."""
    notes: tuple[str, ...] = ()
    query: EstimatorQuery | None = None
    """Query to the estimator; None if the physics was not used."""
    causes: Causes = ()
    """Causes of the error that other machines may share, as shares of its standard deviation."""
    ratios: tuple[Ratio, ...] = ()
    """Factors on the rate of the first of `runs`; empty if the rate was not extrapolated from a run."""
    rollout: RolloutEstimate | None = None
    """Step of a training on its own completions."""

    @property
    def source(self) -> str:
        """Text from which a reader can recompute the value."""
        return self.write_source()


@dataclass(frozen=True)
class NoPrediction:
    """Reason why there is no prediction, and advice."""

    reason: Reason


def no_prediction(code: ReasonCode, text: str, **figures: float) -> NoPrediction:
    """Return that there is no prediction, with a reason worded for an answer."""
    return not_answered(Reason(code=code, text=text, figures=figures))


def not_answered(reason: Reason) -> NoPrediction:
    """Return that there is no prediction, for a reason from the physics."""
    return NoPrediction(reason.model_copy(update={"text": f"no estimate: {reason.text}"}))


def too_small(parameters: int, accelerator: str, lacking: str) -> NoPrediction:
    """Return that there is no prediction for a network that kernel launches limit."""
    text = f"a network of {parameters:,} parameters is bound by kernel launches on {accelerator}, {lacking}"
    return no_prediction(ReasonCode.NETWORK_TOO_SMALL, f"{text}: measure it there", parameters=parameters)
