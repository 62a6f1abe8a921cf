"""Errors of several options given one result, compared with Gaussian conditioning by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planner.decide.outcomes.draws import mixed
from planner.decide.outcomes.learnt import Learnt, PlannedMeasurement

SHARED, OWN = ("site", math.sqrt(0.02)), math.sqrt(0.02)
ONE, OTHER = (SHARED, ("one", OWN)), (SHARED, ("other", OWN))
"""Two errors of variance 0.04 and covariance 0.02."""
MEASURED = PlannedMeasurement("one", ONE, 0.2, 0.2)
SAMPLED = 3 / math.sqrt(2048)
"""Three standard errors of a correlation of independent samples."""


@pytest.mark.parametrize(
    ("option", "causes", "mean", "variance"),
    [
        pytest.param("one", ONE, 1 / math.sqrt(2), 0.5, id="the measured: half of its variance is left"),
        pytest.param("other", OTHER, 0.5 / math.sqrt(2), 0.875, id="the other: 0.035 of 0.04 is left"),
        pytest.param("third", (("third", 0.2),), 0.0, 1.0, id="without a common cause"),
    ],
)
def test_a_result_of_one_deviation(
    option: str, causes: tuple[tuple[str, float], ...], mean: float, variance: float
) -> None:
    """Noise 0.2: C[., 1] / (0.04 + 0.04) are gains of 0.5 and 0.25 on a result of 0.2 x sqrt(2)."""
    moved = Learnt(MEASURED, 1.0).moved(mixed(causes), option, causes)
    assert np.mean(moved) == pytest.approx(mean, abs=SAMPLED)
    assert np.var(moved) == pytest.approx(variance, abs=SAMPLED)


def test_slices_are_equally_likely_and_hold_every_sample_once() -> None:
    slices = list(MEASURED.slices(16))
    assert {len(samples) for samples, _ in slices} == {128}
    assert sorted(np.concatenate([samples for samples, _ in slices])) == list(range(2048))
    scores = [learnt.score for _, learnt in slices]
    assert scores == sorted(scores)
    assert np.mean(scores) == pytest.approx(0.0, abs=0.02)


def test_a_measurement_without_uncertainty_and_noise_changes_nothing() -> None:
    certain = PlannedMeasurement("one", (), 0.0, 0.0)
    normal = mixed(ONE)
    assert (Learnt(certain, 0.0).moved(normal, "one", ()) == normal).all()
