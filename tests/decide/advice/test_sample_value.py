"""The value of a measurement against closed forms: two actions, normal errors, regret linear in them."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from planner.decide.advice.sample_value import Errors, Learnt, given, regret_of, sample_value

NORMAL = NormalDist()
DRAWS = 40_000


def test_one_result_tells_of_the_others_what_they_share():
    """Covariance 0.04, 0.02, 0.04 and a noise of 0.2: gain 0.5 and 0.25; left 0.02, 0.01, 0.035."""
    gain, left = given(np.array([[0.04, 0.02], [0.02, 0.04]]), 0, 0.2)
    assert gain == pytest.approx([0.5, 0.25])
    assert left == pytest.approx(np.array([[0.02, 0.01], [0.01, 0.035]]))


def test_draws_have_the_covariance_that_they_are_asked_for():
    covariance = np.array([[0.09, 0.06, 0.0], [0.06, 0.04, 0.0], [0.0, 0.0, 0.01]])
    errors = Errors.drawn(covariance, np.random.default_rng(1), DRAWS)
    assert np.cov(errors.draws.T) == pytest.approx(covariance, abs=0.002)


def worth(*, lead: float, sd: float, noise: float = 0.0) -> float:
    """Two options: the first costs 100, the other 100 + lead + 100 x its error; the cheaper by its mean is taken."""
    covariance = np.diag([0.0, sd**2])
    errors = Errors.drawn(covariance, np.random.default_rng(2), DRAWS)
    usd = np.stack([np.full(DRAWS, 100.0), 100 + lead + 100 * errors.draws[:, 1]], axis=1)
    regret = usd - usd.min(axis=1, keepdims=True)

    def decide(learnt: Learnt) -> int:
        return int(lead + 100 * learnt.shift[1] < 0)

    return sample_value(errors, regret, 0, 1, decide, noise=noise, rng=np.random.default_rng(3)).worth


@pytest.mark.parametrize(
    ("lead", "sd", "noise"),
    [
        pytest.param(0.0, 0.2, 0.0, id="as good, all is learnt"),
        pytest.param(10.0, 0.2, 0.0, id="dearer"),
        pytest.param(10.0, 0.2, 0.2, id="half is learnt"),
        pytest.param(60.0, 0.2, 0.0, id="hardly ever the better one"),
    ],
)
def test_two_actions_have_the_unit_normal_loss(lead, sd, noise):
    """worth = s x (phi(u) - u (1 - Phi(u))), u = lead / s, s = 100 sd^2 / hypot(sd, noise); Raiffa, Schlaifer."""
    s = 100 * sd**2 / math.hypot(sd, noise)
    u = lead / s
    expected = s * (NORMAL.pdf(u) - u * (1 - NORMAL.cdf(u)))
    assert worth(lead=lead, sd=sd, noise=noise) == pytest.approx(expected, rel=0.04, abs=0.02)


def test_it_falls_as_the_range_narrows():
    values = [worth(lead=10.0, sd=sd) for sd in (0.4, 0.3, 0.2, 0.1, 0.05, 0.02)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(0.0, abs=1e-9)


def test_it_falls_as_the_result_gets_less_certain():
    values = [worth(lead=10.0, sd=0.2, noise=noise) for noise in (0.0, 0.1, 0.3, 1.0)]
    assert values == sorted(values, reverse=True)


def test_what_cannot_change_the_decision_is_worth_nothing():
    errors = Errors.drawn(np.diag([0.01, 0.01]), np.random.default_rng(4), 1000)
    regret = np.tile([0.0, 5.0], (1000, 1))
    value = sample_value(errors, regret, 0, 1, lambda _: 0, noise=0.03, rng=np.random.default_rng(5))
    assert (value.worth, value.chance_to_change, value.instead) == (0.0, 0.0, None)


def test_regret_by_hand():
    """Keeps: 100 and 130, so 0 and 30; the third misses and has cost 50 for nothing. Where none keeps: no regret."""
    usd = np.array([[100.0, 130.0, 50.0], [10.0, 20.0, 30.0]])
    keeps = np.array([[True, True, False], [False, False, False]])
    assert regret_of(usd, keeps).tolist() == [[0.0, 30.0, 50.0], [0.0, 0.0, 0.0]]
