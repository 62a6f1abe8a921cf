"""The loss to interruptions: by hand, against a simulation, against a published run, and its laws."""

from __future__ import annotations

import math
import random
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.duration.goodput import Interruptions, Losses, is_hopeless, losses, optimal_interval_hours

FEW = settings(max_examples=50, deadline=None)
HOURS = st.floats(min_value=0.01, max_value=5.0)
INTERRUPTIONS = st.builds(
    Interruptions,
    input_stall=st.floats(0.0, 2.0),
    evaluation=st.floats(0.0, 0.2),
    interval_hours=HOURS,
    checkpoint_hours=st.floats(0.0, 0.5),
    unsaved_hours=st.floats(0.0, 0.5),
    failures_per_hour=st.floats(0.0, 0.2),
    preemptions_per_hour=st.floats(0.0, 0.2),
    restart_hours=st.floats(0.0, 1.0),
)


def test_without_interruptions_only_stalls_evaluation_and_checkpoints_count() -> None:
    """1 h of steps, 0.2 h waiting, 0.05 h evaluation: 1.25 h in intervals of 0.5 h, 2.5 checkpoints of 0.02 h."""
    found = losses(Interruptions(input_stall=0.2, evaluation=0.05, interval_hours=0.5, checkpoint_hours=0.02))
    assert found == Losses(0.2, 0.05, pytest.approx(0.05), 0.0, 0.0, 0.0, 0.0)
    assert found.total == pytest.approx(1.3)


def test_by_hand() -> None:
    """M 100 h, t 1 h, c 0.1 h, R 0.5 h: 100 x e^0.005 x (e^0.011 - 1) = 1.111616; 1 - e^-0.005 = 0.00498752."""
    interruptions = Interruptions(interval_hours=1.0, checkpoint_hours=0.1, failures_per_hour=0.01, restart_hours=0.5)
    found = losses(interruptions)
    assert found.total == pytest.approx(1.111616, abs=1e-6)
    assert found.checkpoints == pytest.approx(0.1)
    assert found.failure_restarts == pytest.approx(1.111616 * 0.00498752, abs=1e-7)
    assert found.failure_lost == pytest.approx(1.111616 - 1.1 - 0.005544, abs=2e-6)


def simulated_hours(interruptions: Interruptions, *, segments: int, seed: int) -> float:
    """Play it: each segment of training and checkpoint must end between two interruptions; so must a restart."""
    draw, hours = random.Random(seed), 0.0
    segment = interruptions.interval_hours + interruptions.checkpoint_hours
    for _ in range(segments):
        while True:
            until = draw.expovariate(interruptions.per_hour)
            if until >= segment:
                hours += segment
                break
            hours += until
            while (until := draw.expovariate(interruptions.per_hour)) < interruptions.restart_hours:
                hours += until
            hours += interruptions.restart_hours
    return hours / (segments * interruptions.interval_hours)


@pytest.mark.parametrize(
    "interruptions",
    [
        pytest.param(
            Interruptions(interval_hours=1, checkpoint_hours=0.05, failures_per_hour=0.05, restart_hours=0.3), id="rare"
        ),
        pytest.param(
            Interruptions(interval_hours=1, checkpoint_hours=0.1, failures_per_hour=0.5, restart_hours=0.5), id="often"
        ),
        pytest.param(
            Interruptions(
                interval_hours=2, checkpoint_hours=0.2, failures_per_hour=0.3, preemptions_per_hour=0.4, restart_hours=1
            ),
            id="hardly gets on",
        ),
    ],
)
def test_a_simulation_of_random_interruptions_agrees(interruptions: Interruptions) -> None:
    assert losses(interruptions).total == pytest.approx(
        simulated_hours(interruptions, segments=30_000, seed=1), rel=0.02
    )


def test_llama_3_trained_over_90_percent_of_the_time() -> None:
    """arXiv 2407.21783: 419 interruptions in 54 days on 16,384 H100, effective training time over 90 %."""
    per_hour = 419 / (54 * 24)
    stop = 405e9 * 14 / 16_384 / 10e9 / 3600  # each GPU copies its share at 10 GB/s
    write = 405e9 * 14 / 2e12 / 3600  # Tectonic: 2 TB/s sustained
    best = optimal_interval_hours(checkpoint_hours=stop, interruptions_per_hour=per_hour)
    assert best is not None
    interruptions = Interruptions(
        interval_hours=best, checkpoint_hours=stop, unsaved_hours=write, failures_per_hour=per_hour, restart_hours=0.25
    )
    assert 0.90 < 1 / losses(interruptions).total < 0.95


def test_daly_s_optimum_by_hand() -> None:
    """5 min a checkpoint, 24 h between failures: sqrt(2 x 5 x 1440) = 120; 120 x 1.0140818 - 5 = 116.690 min."""
    found = optimal_interval_hours(checkpoint_hours=5 / 60, interruptions_per_hour=1 / 24)
    assert found is not None
    assert found * 60 == pytest.approx(116.690, abs=1e-3)


@pytest.mark.parametrize(
    ("checkpoint_hours", "per_hour", "expected"),
    [
        pytest.param(0.0, 0.1, None, id="a free checkpoint"),
        pytest.param(0.1, 0.0, None, id="nothing interrupts"),
        pytest.param(3.0, 1.0, 1.0, id="longer than twice the time between interruptions"),
    ],
)
def test_where_there_is_no_optimum(checkpoint_hours: float, per_hour: float, expected: float | None) -> None:
    assert optimal_interval_hours(checkpoint_hours=checkpoint_hours, interruptions_per_hour=per_hour) == expected


@FEW
@given(checkpoint=st.floats(0.001, 0.1), per_hour=st.floats(0.001, 0.2), other=st.floats(0.2, 5.0))
def test_no_other_interval_loses_less(checkpoint: float, per_hour: float, other: float) -> None:
    best = optimal_interval_hours(checkpoint_hours=checkpoint, interruptions_per_hour=per_hour)
    assert best is not None
    at_best = Interruptions(interval_hours=best, checkpoint_hours=checkpoint, failures_per_hour=per_hour)
    assert losses(at_best).total <= losses(replace(at_best, interval_hours=best * other)).total * 1.0005


@FEW
@given(interruptions=INTERRUPTIONS)
def test_parts_are_never_negative_and_add_up(interruptions: Interruptions) -> None:
    found = losses(interruptions)
    parts = [getattr(found, part.name) for part in fields(found)]
    assert all(part >= 0 for part in parts)
    assert found.total == pytest.approx(1 + math.fsum(parts))


@FEW
@given(interruptions=INTERRUPTIONS, more=st.floats(1.0, 3.0))
@pytest.mark.parametrize(
    "name",
    [
        "input_stall",
        "evaluation",
        "checkpoint_hours",
        "unsaved_hours",
        "failures_per_hour",
        "preemptions_per_hour",
        "restart_hours",
    ],
)
def test_more_of_anything_never_trains_sooner(name: str, interruptions: Interruptions, more: float) -> None:
    worse = replace(interruptions, **{name: getattr(interruptions, name) * more})
    assert losses(worse).total >= losses(interruptions).total * (1 - 1e-9)


def test_what_is_interrupted_twenty_times_between_checkpoints_is_hopeless() -> None:
    interruptions = Interruptions(interval_hours=1.0, failures_per_hour=30.0)
    assert is_hopeless(interruptions)
    assert not is_hopeless(replace(interruptions, failures_per_hour=1.0))
