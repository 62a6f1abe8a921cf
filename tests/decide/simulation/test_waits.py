"""Waits against the formulas of queueing theory."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planner.decide.simulation.waits import chance_to_wait, until_had, wait_shared, wait_single
from planner.errors import InputError

SIZE = (40_000,)


def within_3_standard_errors(drawn, expected: float) -> bool:
    return bool(abs(np.mean(drawn) - expected) <= 3 * np.std(drawn, ddof=1) / math.sqrt(len(drawn)))


@pytest.mark.parametrize("busy", [0.1, 0.5, 0.9])
def test_one_machine_with_jobs_of_one_length(busy):
    """M/D/1: mean wait = busy x service / (2 (1 - busy))."""
    drawn = wait_single(np.random.default_rng(1), service_hours=4.0, busy=busy, size=SIZE)
    assert within_3_standard_errors(drawn, busy * 4.0 / (2 * (1 - busy)))
    assert np.mean(drawn == 0) == pytest.approx(1 - busy, abs=0.01)


@pytest.mark.parametrize("hours", [0.5, 2.0, 3.9])
def test_the_spread_of_waits_for_one_machine(hours):
    """M/D/1: P(wait <= t) = (1 - busy) e^(busy t / service) for t below one service; Erlang 1909."""
    drawn = wait_single(np.random.default_rng(2), service_hours=4.0, busy=0.7, size=SIZE)
    expected = 0.3 * math.exp(0.7 * hours / 4.0)
    assert np.mean(drawn <= hours) == pytest.approx(expected, abs=3 * math.sqrt(expected / SIZE[0]))


@pytest.mark.parametrize(
    ("servers", "busy", "chance"),
    [
        pytest.param(1, 0.6, 0.6, id="one server waits when it is busy"),
        pytest.param(2, 0.5, 1 / 3, id="two, by hand: 2 rho^2 / (1 + rho)"),
        pytest.param(3, 2 / 3, 4 / 9, id="three at a load of 2, by hand"),
    ],
)
def test_erlang_c(servers, busy, chance):
    assert chance_to_wait(servers=servers, busy=busy) == pytest.approx(chance)


@pytest.mark.parametrize(("servers", "busy"), [(1, 0.5), (2, 0.8), (8, 0.9)])
def test_several_machines(servers, busy):
    """M/M/c: mean wait = C x service / (c (1 - busy))."""
    drawn = wait_shared(np.random.default_rng(4), service_hours=3.0, servers=servers, busy=busy, size=SIZE)
    expected = chance_to_wait(servers=servers, busy=busy) * 3.0 / (servers * (1 - busy))
    assert within_3_standard_errors(drawn, expected)


def test_a_queue_that_grows_without_end_is_an_error():
    with pytest.raises(InputError, match="grows without end"):
        chance_to_wait(servers=4, busy=1.0)


def test_a_machine_that_is_seldom_to_be_had():
    drawn = until_had(np.random.default_rng(5), chance_a_try=0.25, hours_a_try=24.0, size=SIZE)
    assert within_3_standard_errors(drawn, 24 * 3)
    assert not until_had(np.random.default_rng(5), chance_a_try=1.0, hours_a_try=24.0, size=(5,)).any()
    assert np.isinf(until_had(np.random.default_rng(5), chance_a_try=0.0, hours_a_try=24.0, size=(5,))).all()
