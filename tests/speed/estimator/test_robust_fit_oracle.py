"""Solver of every calibration against SciPy's `least_squares` with the same loss as a sum of squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import least_squares

from planner.speed.estimator.fit_sample import RobustProblem

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

SOURCES = 3


class Roofline(RobustProblem):
    """Rows of three sources: seconds = exp(effect of the source) x (work / exp(speed) + traffic / exp(bandwidth))."""

    tail = 4.0
    constants = 2

    def __init__(self, *, seed: int, rows: int, noise: float, outliers: int, low: float, high: float) -> None:
        rng = np.random.default_rng(seed)
        self.noise = noise
        self.work, self.traffic = np.exp(rng.normal(0, 1.5, (2, rows)))
        self.source = np.eye(SOURCES)[np.arange(rows) % SOURCES]
        self.weights = rng.uniform(0.3, 1.0, rows)
        self.centre, self.spread = np.zeros(2 + SOURCES), np.array([1.0, 1.0, *[0.1] * SOURCES])
        self.low, self.high = np.full(2, low), np.full(2, high)
        truth = np.array([0.6, -0.4, 0.1, 0.0, -0.1])
        self.measured = self._modelled(truth) + noise * rng.standard_t(4, rows)
        self.measured[:outliers] += 1.1

    def residual(self, state: Array) -> Array:
        return self.measured - self._modelled(state)

    def jacobian(self, state: Array) -> Array:
        parts = self._parts(state)
        return np.column_stack([*(-parts / parts.sum(axis=0)), self.source])

    def as_squares(self, state: Array) -> Array:
        """Return numbers whose sum of squares is twice the loss: rows under Student's errors, then priors."""
        student = (self.tail + 1) * np.log1p((self.residual(state) / self.noise) ** 2 / self.tail)
        return np.concatenate([np.sqrt(self.weights * student), (state - self.centre) / self.spread])

    def _modelled(self, state: Array) -> Array:
        modelled: Array = np.log(self._parts(state).sum(axis=0)) + self.source @ state[2:]
        return modelled

    def _parts(self, state: Array) -> Array:
        return np.stack([self.work * np.exp(-state[0]), self.traffic * np.exp(-state[1])])


def by_scipy(problem: Roofline) -> Array:
    free = np.full(SOURCES, np.inf)
    bounds = np.concatenate([problem.low, -free]), np.concatenate([problem.high, free])
    start = np.clip(problem.centre, *bounds)
    answer = least_squares(problem.as_squares, start, bounds=bounds, xtol=1e-12, ftol=1e-12, gtol=1e-12, max_nfev=2000)
    assert answer.cost == pytest.approx(problem.loss(answer.x), rel=1e-9)
    state: Array = answer.x
    return state


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "cells",
    [
        pytest.param({"rows": 30, "noise": 0.07, "outliers": 0, "low": -3.0, "high": 3.0}, id="clean rows"),
        pytest.param({"rows": 60, "noise": 0.07, "outliers": 9, "low": -3.0, "high": 3.0}, id="nine outliers"),
        pytest.param({"rows": 4, "noise": 0.3, "outliers": 0, "low": -3.0, "high": 3.0}, id="fewer rows than numbers"),
    ],
)
def test_the_state_is_the_one_that_scipy_finds(seed, cells):
    problem = Roofline(seed=seed, **cells)
    expected = by_scipy(problem)
    state = problem.solve(problem.centre, rounds=60)
    assert problem.loss(state) == pytest.approx(problem.loss(expected), rel=1e-6)
    assert state == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("seed", range(5))
def test_at_a_bound_the_state_is_close_to_the_one_that_scipy_finds(seed):
    """Steps are clipped at a bound, which slows the last ones: after 60 rounds, the loss is at most 0.02 % too high."""
    problem = Roofline(seed=seed, rows=30, noise=0.07, outliers=0, low=-3.0, high=0.2)
    expected = by_scipy(problem)
    state = problem.solve(problem.centre, rounds=60)
    assert (state[0], expected[0]) == (0.2, pytest.approx(0.2, abs=1e-6))
    assert problem.loss(expected) <= problem.loss(state) <= problem.loss(expected) * 1.0002
    assert state == pytest.approx(expected, abs=0.01)
