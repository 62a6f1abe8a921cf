"""Doubt grows with what a source leaves open and shrinks with nearby evidence."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from planner.adapters.evidence import read_calibration
from planner.speed.estimator.doubt import GRID, count_nearby_sources, doubt, doubt_with_own_runs, points_of
from planner.speed.estimator.text_estimator import OF_TEXT
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.observation import Labels
from tests.bundled import text_rows

LABEL = Labels("A100", "ampere", "megatron", "mine", "w", "ampere chip")
ZERO, ONE = np.zeros(1), np.ones(1)


@pytest.mark.parametrize(("left_open", "times", "with_own"), [(0, 0.0, 0.0), (1, 0.2, 0.0), (2, 0.6, 0.35)])
def test_what_is_left_open_widens(left_open: int, times: float, with_own: float) -> None:
    labels = [replace(LABEL, left_open=left_open)]
    assert doubt(0.3 * ONE, labels, ZERO)[0] == pytest.approx(0.3 * math.exp(times))
    assert doubt_with_own_runs(0.2 * ONE, labels)[0] == pytest.approx(0.2 * math.exp(with_own))


def test_nearby_evidence_narrows_by_every_doubling() -> None:
    of_none, of_one, of_three = (doubt(0.3 * ONE, [LABEL], sources * ONE)[0] for sources in (0.0, 1.0, 3.0))
    assert (of_one / of_none, of_three / of_one) == pytest.approx((math.exp(-0.2), math.exp(-0.2)))


def test_a_share_of_the_expected_error_shows() -> None:
    usual, twice = (doubt(expected * ONE, [LABEL], ZERO)[0] for expected in (0.3, 0.6))
    assert twice / usual == pytest.approx(2**0.2)


@pytest.mark.parametrize(
    ("changed", "nearby"),
    [
        pytest.param({}, 1.0, id="the same chip and framework elsewhere"),
        pytest.param({"source": "mine"}, 0.0, id="its own source"),
        pytest.param({"framework": "composer"}, 0.0, id="another framework"),
        pytest.param({"chip": "another"}, 0.0, id="another chip"),
        pytest.param({"accelerator": "A800", "workload": "v"}, 1.0, id="another card of the chip, another network"),
    ],
)
def test_whose_evidence_counts(changed: dict[str, str], nearby: float) -> None:
    points = points_of([replace(LABEL, **({"source": "theirs"} | changed))], np.array([[1.0, 2.0]]))
    assert count_nearby_sources([LABEL], np.array([[1.0, 2.0]]), points)[0] == pytest.approx(nearby)


def test_each_source_counts_once_by_its_nearest_settings() -> None:
    """Two sources: one at distances 0 and 1, one at distance 2: 1 + e^-2."""
    theirs, others = replace(LABEL, source="theirs"), replace(LABEL, source="others")
    points = points_of([theirs, theirs, others], np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
    assert count_nearby_sources([LABEL], np.zeros((1, 2)), points)[0] == pytest.approx(1 + math.exp(-2))


def test_settings_are_kept_on_a_grid_each_once() -> None:
    points = points_of([LABEL] * 3, np.array([[0.0, 1.0], [0.2 * GRID, 1.0], [-3 * GRID, 1.0]]))
    assert points == {"ampere chip": {"megatron": {"mine": ("-3 4", "0 4")}}}


def test_a_vague_row_s_range_is_wider_and_its_value_the_same() -> None:
    row, calibration = text_rows()[0], read_calibration()
    stated, vague = (
        OF_TEXT.estimate(from_rows([row.config]), [replace(row.labels, source="-", left_open=left_open)], calibration)
        for left_open in (0, 2)
    )
    assert stated.tokens_per_s_per_gpu[0] == vague.tokens_per_s_per_gpu[0]
    widths = [math.log(found.high_90[0] / found.low_90[0]) for found in (stated, vague)]
    assert widths[1] / widths[0] == pytest.approx(math.exp(0.6))


def test_nearby_evidence_narrows_an_estimate() -> None:
    row, calibration = text_rows()[0], read_calibration()
    label = replace(row.labels, source="-")
    near = OF_TEXT.estimate(from_rows([row.config]), [label], calibration)
    far = OF_TEXT.estimate(from_rows([row.config]), [label], calibration.model_copy(update={"points": {}}))
    assert near.nearby_sources[0] > 0
    assert near.tokens_per_s_per_gpu[0] == far.tokens_per_s_per_gpu[0]
    narrower = math.log(near.high_90[0] / near.low_90[0]) / math.log(far.high_90[0] / far.low_90[0])
    assert narrower == pytest.approx(math.exp(-0.2 * math.log2(1 + near.nearby_sources[0])))


def test_own_runs_widen_no_range_unless_the_site_is_odd() -> None:
    row, calibration = text_rows()[0], read_calibration()
    label = replace(row.labels, source="a site")
    blind = OF_TEXT.estimate(from_rows([row.config]), [label], calibration)
    as_expected = replace(row, labels=label, tokens_per_s_per_gpu=float(blind.tokens_per_s_per_gpu[0]))
    odd = replace(as_expected, tokens_per_s_per_gpu=as_expected.tokens_per_s_per_gpu / 8)
    asked = from_rows([row.config | {"micro_batch": 2 * row.config["micro_batch"]}])
    blind, seeing, surprised = (
        OF_TEXT.estimate(asked, [label], calibration, own=own) for own in ((), (as_expected,), (odd,))
    )
    widths = [math.log(found.high_90[0] / found.low_90[0]) for found in (blind, seeing, surprised)]
    assert widths[1] <= widths[0]
    assert widths[2] > widths[1]
