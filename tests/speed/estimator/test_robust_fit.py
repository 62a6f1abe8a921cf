"""Solver of every calibration: its loss never rises, and from afar it finds the deeper of two local minima."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from planner.speed.estimator.fit_sample import RobustProblem

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array


class Location(RobustProblem):
    """Centre of some numbers under Student's errors."""

    noise, tail = 0.07, 4.0

    def __init__(self, numbers: list[float]) -> None:
        self.numbers = np.array(numbers)
        self.constants = 1
        self.weights = np.ones(len(numbers))
        self.centre, self.spread = np.zeros(1), np.full(1, 100.0)
        self.low, self.high = np.full(1, -5.0), np.full(1, 5.0)

    def residual(self, state: Array) -> Array:
        return self.numbers - state[0]

    def jacobian(self, state: Array) -> Array:
        return np.ones((len(self.numbers), 1))


FEW_HERE_MORE_THERE = [0.0] * 8 + [0.8] * 12


def test_from_afar_the_deeper_minimum_is_found() -> None:
    """Twelve numbers at 0.8 look like outliers from a start among eight others."""
    problem = Location(FEW_HERE_MORE_THERE)
    near = problem.solve(np.zeros(1), rounds=30)
    afar = problem.solve_from_afar(np.zeros(1), rounds=30)
    assert near[0] < 0.2
    assert afar[0] == pytest.approx(0.8, abs=0.05)
    assert problem.loss(afar) < problem.loss(near)


def test_the_noise_is_what_it_was() -> None:
    problem = Location(FEW_HERE_MORE_THERE)
    problem.solve_from_afar(np.zeros(1), rounds=3)
    assert problem.noise == Location.noise


@pytest.mark.parametrize("start", [-3.0, 0.0, 0.5, 4.0])
def test_no_round_climbs(start: float) -> None:
    problem = Location(FEW_HERE_MORE_THERE)
    losses = [problem.loss(problem.solve(np.array([start]), rounds=rounds)) for rounds in range(6)]
    assert losses == sorted(losses, reverse=True)


def test_the_middle_of_numbers_that_agree_is_their_mean() -> None:
    assert Location([0.49, 0.5, 0.51]).solve(np.zeros(1), rounds=30)[0] == pytest.approx(0.5, abs=1e-3)
