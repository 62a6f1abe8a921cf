"""What a model of throughput answers: a number with its doubt and its grounds, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from planner.model.evidence.run import RunRecord
from planner.model.quantity import Basis
from planner.quantity.interval import Interval
from planner.speed.estimator.estimator_query import EstimatorQuery


@dataclass(frozen=True)
class Prediction:
    """Samples/s of the whole cluster in steady state. `source` lets a reader recompute the value."""

    samples_per_s: Interval
    basis: Basis
    source: str
    as_of: date | None
    runs: tuple[RunRecord, ...] = ()
    notes: tuple[str, ...] = ()
    asked: EstimatorQuery | None = None
    """None: not from physics."""


@dataclass(frozen=True)
class NoPrediction:
    """Why nothing can be said, and what would help."""

    reason: str
