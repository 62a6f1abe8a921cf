"""A cost of nothing has no doubt."""

from __future__ import annotations

import math

import pytest

from planner.quantity.interval import Interval, log_deviation


@pytest.mark.parametrize(
    ("band", "sd"),
    [
        pytest.param(Interval(0.0, 0.0, 0.0), 0.0, id="nothing to pay"),
        pytest.param(Interval(10.0, 5.0, 20.0), math.log(4) / (2 * 1.6449), id="from a half to twice, 90 %"),
    ],
)
def test_the_doubt_of_a_cost(band, sd):
    assert log_deviation(band) == pytest.approx(sd, rel=1e-3)
