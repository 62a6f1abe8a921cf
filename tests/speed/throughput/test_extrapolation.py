"""A measured step without a network, scaled to other counts and accelerators, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from planner.model.answer.reason import ReasonCode
from planner.model.evidence.run import RunRecord
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import NoPrediction, Prediction
from tests.bundled import bundled_catalog
from tests.speed.throughput.asking import asked

STATION = bundled_catalog().runs["seed-000-dgx-station-v100"]
"""Run of a network that its document does not name, so that only ratios can scale its rate."""


def on(count: int, rate: float, **changes: Any) -> RunRecord:
    """Return the station's run on `count` of its four accelerators."""
    made = {
        "id": f"on-{count}",
        "hardware": STATION.hardware.model_copy(update={"accelerators_per_node": count}),
        "throughput": STATION.throughput.model_copy(update={"value": rate, "low": rate, "high": rate}),
        "step_seconds": None,
    }
    return STATION.model_copy(update=made | changes)


def scaled(option: dict[str, Any], *runs: RunRecord) -> Prediction | NoPrediction:
    known = {run.id: run for run in runs}
    catalog = bundled_catalog().model_copy(update={"runs": known})
    job, candidate = asked(catalog, option, workload={"measured": runs[0].id})
    return predict(job, candidate, catalog)


def rate_of(prediction: Prediction | NoPrediction) -> tuple[float, float, float]:
    assert isinstance(prediction, Prediction), prediction.reason
    rate = prediction.samples_per_s
    return rate.value, rate.low, rate.high


TWO = {"site": "dgx-station-v100", "accelerators": 2}


def test_between_two_counts_a_straight_line_in_logarithms() -> None:
    """Between 27 on one and 75 on four, two are half way in logarithms: sqrt(27 x 75) = 45, within a factor of 1.3."""
    prediction = scaled(TWO, on(1, 27.0), on(4, 75.0))
    assert rate_of(prediction) == pytest.approx((45.0, 45.0 / 1.3, 45.0 * 1.3))
    assert isinstance(prediction, Prediction)
    assert "interpolated between runs on-1 (27 samples/s on 1) and on-4 (75 on 4)" in prediction.source


def test_a_run_of_seconds_widens_the_range() -> None:
    value, _, high = rate_of(scaled(TWO, on(1, 27.0), on(4, 75.0, short_window=True)))
    assert high / value == pytest.approx(1.3 * 1.15)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"nodes": 2, "accelerators_per_node": 2}, id="of two machines"),
        pytest.param({"node": "aws/p3.8xlarge"}, id="of another machine"),
    ],
)
def test_a_count_of_other_machines_is_no_end_of_the_line(other: dict[str, Any]) -> None:
    above = on(4, 75.0)
    above = above.model_copy(update={"hardware": above.hardware.model_copy(update=other)})
    prediction = scaled(TWO, on(1, 27.0), above)
    assert isinstance(prediction, Prediction)
    assert "interpolated" not in prediction.source
    assert "scaled from run on-1" in prediction.source


def test_beyond_the_counts_that_were_measured_it_is_scaled_from_the_nearest() -> None:
    prediction = scaled(TWO | {"accelerators": 4}, on(1, 27.0), on(2, 50.0))
    assert isinstance(prediction, Prediction)
    assert "scaled from run on-2" in prediction.source


def test_to_an_accelerator_of_unknown_peak_nothing_is_scaled() -> None:
    prediction = scaled({"site": "pc-cpu"}, on(1, 27.0))
    assert isinstance(prediction, NoPrediction)
    assert prediction.reason.code is ReasonCode.HARDWARE_NOT_KNOWN
    assert "the peak or bandwidth of CPU or V100-DGXS-32GB is not known" in prediction.reason.text
