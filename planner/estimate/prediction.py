"""What a model of throughput answers: a number with its doubt and its grounds, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from planner.estimate.interval import Interval
from planner.estimate.observation import Labels, Observation
from planner.model.quantity import Basis
from planner.model.run import RunRecord


@dataclass(frozen=True)
class PhysicsAsked:
    """What the estimator was asked, for whoever explains its answer; its rate is not known, so it is 1."""

    observation: Observation
    own: tuple[Observation, ...]
    """The user's runs that corrected it."""
    is_of_images: bool = False

    @property
    def label(self) -> Labels:
        """What it shares with others."""
        return self.observation.labels


@dataclass(frozen=True)
class Prediction:
    """Samples/s of the whole cluster in steady state. `source` lets a reader recompute the value."""

    samples_per_s: Interval
    basis: Basis
    source: str
    as_of: date | None
    runs: tuple[RunRecord, ...] = ()
    notes: tuple[str, ...] = ()
    asked: PhysicsAsked | None = None
    """None: not from physics."""


@dataclass(frozen=True)
class NoPrediction:
    """Why nothing can be said, and what would help."""

    reason: str
