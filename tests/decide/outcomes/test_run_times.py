"""Drawn run times compared with closed forms, within 3 standard errors of the replications."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planner.decide.outcomes.run_times import interrupted, run_times
from planner.duration.goodput import Interruptions, losses

REPLICATIONS = 40_000


def within_3_standard_errors(drawn, expected: float) -> bool:
    error = np.std(drawn, ddof=1) / math.sqrt(len(drawn))
    return bool(abs(np.mean(drawn) - expected) <= 3 * error)


@pytest.mark.parametrize(
    ("per_hour", "segment", "restart", "segments"),
    [
        pytest.param(0.05, 1.0, 0.5, 10.0, id="seldom"),
        pytest.param(0.5, 2.0, 0.25, 24.0, id="every other segment"),
        pytest.param(2.0, 1.5, 0.1, 40.0, id="often: sums are drawn as normal"),
        pytest.param(0.5, 2.0, 0.25, 2.5, id="half a segment"),
        pytest.param(0.02, 4.0, 0.0, 7.0, id="a restart that costs nothing"),
    ],
)
def test_a_restart_that_is_not_interrupted(per_hour, segment, restart, segments):
    """E = segments x (1 / l + restart) x (e^(l (t + d)) - 1)."""
    rng = np.random.default_rng(1)
    drawn = interrupted(
        rng,
        np.full(REPLICATIONS, segments),
        segment_hours=segment,
        recovery_hours=0.0,
        down_hours=restart,
        per_hour=per_hour,
    )
    expected = segments * (1 / per_hour + restart) * math.expm1(per_hour * segment)
    assert within_3_standard_errors(drawn.hours, expected)


@pytest.mark.parametrize(
    "lost",
    [
        pytest.param(Interruptions(interval_hours=1.0, failures_per_hour=0.1, restart_hours=0.3), id="failures"),
        pytest.param(
            Interruptions(
                input_stall=0.1, evaluation=0.05, interval_hours=2.0, checkpoint_hours=0.1, unsaved_hours=0.2,
                failures_per_hour=0.02, preemptions_per_hour=0.3, restart_hours=0.5,
            ),
            id="failures and preemption, stalls and evaluation",
        ),
        pytest.param(
            Interruptions(interval_hours=0.5, preemptions_per_hour=3.0, restart_hours=0.4), id="restarts too"
        ),
    ],
)  # fmt: skip
def test_the_mean_is_that_of_the_estimate(lost):
    drawn = run_times(np.random.default_rng(2), np.full(REPLICATIONS, 30.0), lost)
    assert within_3_standard_errors(drawn.hours, 30.0 * losses(lost).total)


def test_without_interruptions_nothing_is_random():
    drawn = run_times(np.random.default_rng(3), np.array([10.0, 20.0]), Interruptions(evaluation=0.1))
    assert drawn.hours == pytest.approx([11.0, 22.0])
    assert not drawn.interruptions.any()


def test_preemptions_of_a_segment_are_geometric():
    """P(n) = (1 - p)^n p with p = e^(-l s), so the mean is (1 - p) / p and the variance (1 - p) / p^2."""
    drawn = interrupted(
        np.random.default_rng(4), np.ones(REPLICATIONS), segment_hours=1.0, recovery_hours=0.0, per_hour=math.log(2)
    )
    counts = drawn.interruptions.astype(float)
    assert within_3_standard_errors(counts, 1.0)
    assert within_3_standard_errors((counts - 1.0) ** 2, 2.0)
    assert np.mean(counts == 2) == pytest.approx(0.125, abs=3 * math.sqrt(0.125 * 0.875 / REPLICATIONS))


def test_the_spread_of_many_interruptions_is_that_of_as_many_single_ones():
    """A run of 60 segments spreads as 60 independent runs of one segment each do: variances add up."""
    lost = {"segment_hours": 1.0, "recovery_hours": 0.2, "per_hour": 1.0}
    single = interrupted(np.random.default_rng(5), np.ones((REPLICATIONS, 60)), **lost).hours.sum(axis=1)
    whole = interrupted(np.random.default_rng(6), np.full(REPLICATIONS, 60.0), **lost).hours
    assert np.std(whole) == pytest.approx(np.std(single), rel=0.03)
    assert np.quantile(whole, [0.1, 0.9]) == pytest.approx(np.quantile(single, [0.1, 0.9]), rel=0.01)
