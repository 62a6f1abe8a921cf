"""What one measurement tells of the errors of all options that share a cause with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.decide.outcomes.draws import Array, Counts, mixed, scores

Causes = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Measurement:
    """A measurement that may be made; its result errs by the causes of what it measures, and by noise."""

    name: str
    causes: Causes
    """Of the error that it measures, each with the standard deviation of the logarithm."""
    deviation: float
    """Standard deviation of that error's logarithm as decisions count it, with doubts."""
    noise: float
    """Standard deviation of the measurement's own error, in logarithms."""

    @cached_property
    def results(self) -> Array:
        """The standard normal score of the result in each sample.

        result = (error's score x its deviation + noise's score x noise) / hypot(deviation, noise)
        """
        error = mixed(self.causes) if self.causes else scores(self.name, "speed")
        whole = math.hypot(self.deviation, self.noise)
        noise = self.noise * scores(self.name, "noise")
        return (self.deviation * error + noise) / whole if whole > 0 else np.zeros(error.shape)

    def slices(self, count: int) -> Iterator[tuple[Counts, Learnt]]:
        """Yield the samples of equally likely slices of results, each with what the slice's mean result tells."""
        for samples in np.array_split(np.argsort(self.results, kind="stable"), count):
            yield samples, Learnt(self, float(self.results[samples].mean()))

    def tells_of(self, option: str, causes: Causes) -> bool:
        """Return whether an option's hours err by a cause that is measured."""
        return option == self.name or not {name for name, _ in causes}.isdisjoint(name for name, _ in self.causes)


@dataclass(frozen=True)
class Learnt:
    """One result of a measurement."""

    measurement: Measurement
    score: float

    def moved(self, normal: Array, option: str, causes: Causes) -> Array:
        """Return the scores of an option's error in each sample, given the result; unchanged without a common cause."""
        if not self.measurement.tells_of(option, causes):
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
