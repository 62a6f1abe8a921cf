"""Value of sample information: by how much one measurement is expected to lower the regret of a decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from planner.decide.outcomes.draws import Array

OUTCOMES = 25
"""Results of a measurement that are told apart: equally likely slices."""


@dataclass(frozen=True)
class Errors:
    """Joint normal logarithmic errors of all options' hours: what they are thought to be, and draws of what they are.

    A positive error is a machine that takes longer than thought.
    """

    covariance: Array
    draws: Array
    """Replications x options, of mean 0."""

    @classmethod
    def drawn(cls, covariance: Array, rng: np.random.Generator, replications: int) -> Errors:
        """Draw errors; a covariance that is not quite positive definite loses its negative directions."""
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return cls(covariance, rng.standard_normal((replications, len(covariance))) @ root.T)


@dataclass(frozen=True)
class Learnt:
    """Estimates of the options' hours after one result."""

    shift: Array
    """Change of each option's ln hours."""
    covariance: Array
    measured: int


@dataclass(frozen=True)
class SampleValue:
    """Value of one measurement before its result is known."""

    worth: float
    """Expected regret before less that after, in the unit of the regret. Below 0 if the rule is cautious: it pays for
    certainty."""
    chance_to_change: float
    instead: int | None
    """Option that most often replaces the chosen one."""


Decide = Callable[[Learnt], int]


def given(covariance: Array, measured: int, noise: float) -> tuple[Array, Array]:
    """Return what one result tells: the gains on every option's error, and the covariance that is left.

    gain = C[:, j] / (C[j, j] + noise^2);  left = C - gain C[j, :]

    Source: Gaussian conditioning, Rasmussen and Williams 2006, section 2.2.
    """
    gain = covariance[:, measured] / (covariance[measured, measured] + noise**2)
    return gain, covariance - np.outer(gain, covariance[measured])


def sample_value(
    errors: Errors, regret: Array, chosen: int, measured: int, decide: Decide, *, noise: float, rng: np.random.Generator
) -> SampleValue:
    """Return the expected value of measuring one option, by pre-posterior simulation.

    worth = E[regret of the decision as it stands] - E[regret of the decision after the result]

    `regret` holds replications x options. Each replication's result is its error and noise; slices of equally likely
    results are decided on together, by the rule, at their mean.
    Source: Raiffa and Schlaifer, Applied Statistical Decision Theory, 1961, chapter 4.
    """
    result = errors.draws[:, measured] + noise * rng.standard_normal(len(errors.draws))
    gain, left = given(errors.covariance, measured, noise)
    after, changed, instead = 0.0, 0, Counter[int]()
    for slice_ in np.array_split(np.argsort(result), OUTCOMES):
        choice = decide(Learnt(gain * result[slice_].mean(), left, measured))
        after += float(regret[slice_, choice].sum())
        if choice != chosen:
            changed += len(slice_)
            instead[choice] += len(slice_)
    count = len(result)
    most = instead.most_common(1)
    return SampleValue(float(regret[:, chosen].mean()) - after / count, changed / count, most[0][0] if most else None)


def regret_of(usd: Array, keeps: Array) -> Array:
    """Return the regret of every option in every replication: what it costs more than the best one that keeps the
    limits. One that misses them has cost its money for nothing, and the best one's beside it.

    Where no option keeps them nothing is regretted: no choice would have helped.
    """
    best = np.where(keeps, usd, np.inf).min(axis=1, keepdims=True)
    known = np.isfinite(best)
    base = np.where(known, best, 0.0)
    return np.asarray(np.where(known, np.where(keeps, usd - base, usd), 0.0))
