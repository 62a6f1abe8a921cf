"""Update the errors of all options that share a cause with a measurement by its result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.decide.outcomes.draws import Array, Counts, mixed, scores

Causes = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class PlannedMeasurement:
    """A measurement that may be made. Its result errs by the causes of the measured quantity, and by noise."""

    name: str
    causes: Causes
    """Causes of the measured error, each with the standard deviation of its logarithm."""
    deviation: float
    """Standard deviation of the measured error's logarithm in decisions, doubts included."""
    noise: float
    """Standard deviation of the measurement's own error, in logarithms."""

    @cached_property
    def results(self) -> Array:
        """Return the standard normal score of the result in each sample.

        result = (error's score x its deviation + noise's score x noise) / hypot(deviation, noise)
        """
        error = mixed(self.causes) if self.causes else scores(self.name, "speed")
        whole = math.hypot(self.deviation, self.noise)
        noise = self.noise * scores(self.name, "noise")
        return (self.deviation * error + noise) / whole if whole > 0 else np.zeros(error.shape)

    def slices(self, count: int) -> Iterator[tuple[Counts, Learnt]]:
        """Yield the samples of equally likely slices of results, each with the mean result of the slice."""
        for samples in np.array_split(np.argsort(self.results, kind="stable"), count):
            yield samples, Learnt(self, float(self.results[samples].mean()))

    def shares_a_cause(self, option: str, causes: Causes) -> bool:
        """Return whether the hours of an option share a cause of error with the measurement."""
        return option == self.name or not {name for name, _ in causes}.isdisjoint(name for name, _ in self.causes)


@dataclass(frozen=True)
class Learnt:
    """A result of a measurement."""

    measurement: PlannedMeasurement
    score: float

    def moved(self, normal: Array, option: str, causes: Causes) -> Array:
        """Return the scores of an option's error in each sample, given the result. Without a common cause they stay."""
        if not self.measurement.shares_a_cause(option, causes):
            return normal
        return given(normal, self.measurement.results, self.score)


def given(errors: Array, results: Array, result: float) -> Array:
    """Return normal errors in each sample, given one result of a measurement.

    error given the result = error + gain x (this result - the sample's result)
    gain                   = covariance of errors and results / variance of results

    Source: Matheron's rule; Hoffman and Ribak, Astrophysical Journal Letters 380 (1991) L5.
    """
    apart = results - results.mean()
    spread = float(np.mean(apart**2))
    gain = float(np.mean(errors * apart)) / spread if spread > 0 else 0.0
    return np.asarray(errors + gain * (result - results))
