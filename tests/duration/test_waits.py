"""Waits against the formulas of queueing theory."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pydantic import ValidationError

from planner.duration.waits import (
    chance_to_wait,
    drawn_wait,
    mean_wait,
    until_had,
    wait_behind,
    wait_of,
    wait_shared,
    wait_single,
    waits_of_sets,
)
from planner.errors import InputError
from planner.model.plan.option_times import Queue, Tries

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


@pytest.mark.parametrize(
    ("jobs", "servers", "hours"),
    [(1, 1, 4.0), (5, 1, 20.0), (5, 4, 2.0), (3, 4, 0.0), (0, 1, 0.0)],
)
def test_behind_jobs(jobs, servers, hours):
    """jobs - servers + 1 have to end, one every service / servers hours."""
    drawn = wait_behind(np.random.default_rng(5), jobs=jobs, service_hours=4.0, servers=servers, size=SIZE)
    assert within_3_standard_errors(drawn, hours)
    assert mean_wait(Queue(jobs=jobs, job_hours=4.0, machines=servers)) == pytest.approx(hours)


@pytest.mark.parametrize(
    ("asked", "mean", "ends", "words"),
    [
        pytest.param(Queue(jobs=1, job_hours=10.0), 10.0, (0.513, 29.96), "1 jobs ahead", id="exponential"),
        pytest.param(Queue(busy=0.5, job_hours=4.0, machines=2), 4 / 3, (0.0, 7.59), "busy 0.5", id="M/M/2"),
        pytest.param(Tries(had=3, of=10, every_hours=24.0), 56.0, (0.0, 192.0), "had 3 times of 10", id="tries"),
    ],
)  # fmt: skip
def test_a_wait_has_its_mean_and_the_range_of_its_draws(asked, mean, ends, words):
    """Ends: -10 ln 0.95 and -10 ln 0.05; 4 ln(1/3 / 0.05); 8 days, as 0.7^8 is above 0.05 and 0.7^9 below."""
    wait = wait_of(asked)
    assert wait.value == pytest.approx(mean)
    assert (wait.low, wait.high) == pytest.approx(ends, rel=0.05, abs=0.01)
    assert words in wait.source


@pytest.mark.parametrize(
    "wrong", [{"job_hours": 4.0}, {"job_hours": 4.0, "jobs": 1, "busy": 0.5}, {"job_hours": 4.0, "busy": 1.0}]
)
def test_a_queue_says_one_thing(wrong):
    with pytest.raises(ValidationError):
        Queue.model_validate(wrong)


def test_nobody_has_more_than_all():
    with pytest.raises(ValidationError, match=r"larger than of \(3\)"):
        Tries(had=4, of=3, every_hours=24.0)


@pytest.mark.parametrize(
    ("asked", "more"),
    [
        pytest.param(Queue(jobs=3, job_hours=4.0, machines=2), [4.0], id="the other of two machines ends its job"),
        pytest.param(Queue(jobs=7, job_hours=24.0, machines=4), [24 / 3, 24 / 2, 24.0], id="of three, two, one"),
        pytest.param(Queue(jobs=1, job_hours=4.0, machines=3), [0.0, 4.0], id="two of three machines are free"),
        pytest.param(Queue(jobs=0, job_hours=4.0, machines=2), [0.0], id="both are free"),
        pytest.param(Queue(busy=0.5, job_hours=4.0, machines=2), [2 / 3 * 4.0], id="M/M/2: one is busy with 2 of 3"),
    ],
)
def test_further_sets_wait_for_further_machines(asked, more):
    """All machines of an M/M/2 queue with busy share b are free with probability (1 - b) / (1 + b): 1/3 at b = 0.5."""
    rng = np.random.default_rng(6)
    waits = waits_of_sets(rng, asked, drawn_wait(rng, asked, SIZE), len(more) + 1)
    for before, after, mean in zip(waits, waits[1:], more, strict=False):
        added = after - before
        assert abs(np.mean(added) - mean) <= 4 * np.std(added) / math.sqrt(added.size)


@pytest.mark.parametrize("machines", [200, 10_000])
def test_large_queues_have_waits(machines):
    """At half their time taken, machines are free with near certainty: three sets do not wait."""
    rng, asked = np.random.default_rng(7), Queue(busy=0.5, job_hours=6.0, machines=machines)
    waits = waits_of_sets(rng, asked, drawn_wait(rng, asked, (100,)), 3)
    assert np.max(waits) == 0
