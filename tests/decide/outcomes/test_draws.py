"""Draws of log-normal ranges against tables of the normal distribution, and causes that two errors share."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.decide.outcomes.draws import SAMPLES, at_scores, mixed, scores, stays_under
from planner.quantity.interval import Interval


def chance_below(interval: Interval, limit: float) -> float:
    return float(np.mean(at_scores(interval, scores("a cause")) <= limit))


@pytest.mark.parametrize(
    ("interval", "limit", "chance"),
    [
        pytest.param(Interval(100, 50, 200), 100, 0.5, id="the value is the median"),
        pytest.param(Interval(100, 50, 200), 200, 0.95, id="above the upper end of a 90 % range lie 5 %"),
        pytest.param(Interval(100, 50, 200), 50, 0.05, id="below the lower end as many"),
        pytest.param(Interval(100, 90, 400), 400, 0.95, id="each side has a width of its own"),
        pytest.param(Interval(100, 90, 400), 90, 0.05, id="the lower side too"),
        pytest.param(Interval(100, 50, 200), 142.585, 0.8, id="0.8416 deviations of ln 2 / 1.6449"),
        pytest.param(Interval(100, 100, 100), 100, 1.0, id="exact, and within"),
        pytest.param(Interval(100, 100, 100), 99.9, 0.0, id="exact, and over"),
        pytest.param(Interval(0, 0, 0), 0, 1.0, id="nothing costs at most nothing"),
        pytest.param(Interval(1, 0.5, 2), 0, 0.0, id="something costs more than nothing"),
        pytest.param(Interval(0, 0, 5), 1, 0.629, id="half of the time nothing: Phi(1.6449 / 5)"),
    ],
)
def test_by_hand(interval: Interval, limit: float, chance: float) -> None:
    assert chance_below(interval, limit) == pytest.approx(chance, abs=1 / SAMPLES)


@given(st.floats(0.01, 1e6), st.floats(1.01, 50), st.floats(1.01, 50), st.floats(0.01, 0.99))
def test_the_inverse(value: float, down: float, up: float, chance: float) -> None:
    interval = Interval(value, value / down, value * up)
    assert chance_below(interval, stays_under(interval, chance)) == pytest.approx(chance, abs=1 / SAMPLES)


@pytest.mark.parametrize(
    ("causes", "others", "together"),
    [
        pytest.param((("a", 1.0),), (("a", 2.0),), 1.0, id="one cause of two sizes"),
        pytest.param((("a", 1.0),), (("b", 1.0),), 0.0, id="two causes"),
        pytest.param((("a", 3.0), ("b", 4.0)), (("a", 3.0), ("c", 4.0)), 0.36, id="9 of 25 in common"),
        pytest.param((("a", 1.0), ("b", 1.0)), (("b", 1.0),), math.sqrt(0.5), id="one contains the other"),
    ],
)
def test_the_correlation_of_errors_is_that_of_their_causes(causes, others, together) -> None:
    """The correlation by hand: sum of sd x sd' over common causes / (whole x whole')."""
    drawn = [mixed(each) for each in (causes, others)]
    correlation = float(np.corrcoef(drawn[0], drawn[1])[0, 1])
    assert correlation == pytest.approx(together, abs=3 / math.sqrt(SAMPLES))
    assert np.sort(drawn[0]) == pytest.approx(np.sort(scores("a")))
