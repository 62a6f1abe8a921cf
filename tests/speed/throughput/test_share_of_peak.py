"""Predictions without the physics: by the FLOP rate of another network on the machine, or a share of the peak."""

from __future__ import annotations

from typing import Any

import pytest

from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import Precision, Strategy
from planner.model.quantity import Basis
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import NoPrediction, Prediction
from tests.bundled import bundled_catalog
from tests.speed.throughput.asking import asked

TEMPLATE = bundled_catalog().runs["seed-003-rtx3090-ddp-x1"]
SMOKE = bundled_catalog().presets["cpu-smoke"].architecture
DEEPER = SMOKE.model_copy(update={"layers": 4})
"""Network with twice the layers of cpu-smoke.

cpu-smoke has 2 layers of 4 x 128^2 + 2 x 128 x 512 = 196,608 weights and a head of 1,024 x 128 = 131,072. In samples of
128, a token takes 6 x 524,288 + 12 x 2 x 128 x 128 = 3,538,944 FLOP. With 4 layers it takes
6 x 917,504 + 12 x 4 x 128 x 128 = 6,291,456, which is 9/16 of the samples in the same time.
"""
CPU = {"site": "pc-cpu"}


def measured(run_id: str, rate: float, *, node: str = "pc-cpu", accelerator: str = "CPU", **changes: Any) -> RunRecord:
    """Return a run of cpu-smoke with `rate` samples/s."""
    hardware = TEMPLATE.hardware.model_copy(
        update={"node": node, "accelerator": accelerator, "accelerators_per_node": 1, "nodes": 1}
    )
    throughput = TEMPLATE.throughput.model_copy(update={"value": rate, "low": rate, "high": rate})
    made: dict[str, Any] = {
        "id": run_id,
        "workload": "cpu-smoke",
        "architecture": SMOKE,
        "seq_len": 128,
        "parameters": 672_384,
    }
    made |= {"hardware": hardware, "throughput": throughput, "step_seconds": None, "precision": Precision.FP32}
    return TEMPLATE.model_copy(update=made | changes)


def predicted(*runs: RunRecord, option: dict[str, Any] | None = None, **changes: Any) -> Prediction | NoPrediction:
    """Predict the deeper network from these runs only, without a calibration."""
    known = {"runs": {run.id: run for run in runs}, "calibration": None, "image_calibration": None}
    catalog = bundled_catalog().model_copy(update=known)
    plan = {"workload": {"architecture": DEEPER.model_dump(), "seq_len": 128}} | changes
    job, candidate = asked(catalog, option or CPU, **plan)
    return predict(job, candidate, catalog)


def run_of(prediction: Prediction | NoPrediction) -> str | None:
    assert isinstance(prediction, Prediction), prediction.reason
    return prediction.runs[0].id if prediction.runs else None


def test_another_network_runs_at_the_same_flop_rate_give_or_take_a_factor_of_three() -> None:
    prediction = predicted(measured("mine", 160.0))
    assert isinstance(prediction, Prediction)
    rate = prediction.samples_per_s
    assert (rate.value, rate.low, rate.high) == pytest.approx((90.0, 30.0, 270.0))
    assert prediction.basis is Basis.MODELLED
    assert "at the FLOP rate of run mine: 160 samples/s of cpu-smoke" in prediction.source
    assert prediction.notes == ("scaled from another network, measured in fp32",)


def test_a_run_of_adapters_did_two_thirds_of_the_work_in_products() -> None:
    """The run took 4 x 524,288 + 393,216 = 2,490,368 FLOP per token: 160 x 2,490,368 / 6,291,456."""
    prediction = predicted(measured("lora", 160.0, method="lora"))
    assert isinstance(prediction, Prediction)
    assert prediction.samples_per_s.value == pytest.approx(63.3333, rel=1e-5)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param({}, {"short_window": True}, id="a long window"),
        pytest.param({"strategy": Strategy.DDP}, {"strategy": Strategy.FSDP2}, id="the same strategy"),
        pytest.param({"parameters": 900_000}, {"parameters": 800_000}, id="the larger network"),
    ],
)
def test_of_several_runs_the_most_informative_is_taken(better: dict[str, Any], worse: dict[str, Any]) -> None:
    for names in (("a", "b"), ("b", "a")):  # never because of the name
        first, other = measured(names[0], 160.0, **better), measured(names[1], 10.0, **worse)
        assert run_of(predicted(first, other, option=CPU | {"strategy": "ddp"})) == names[0]


RTX_3090 = {"site": "rtx3090-x10", "accelerators": 1}
BF16 = {"training": {"precision": "bf16"}}
LARGE = bundled_catalog().presets["gpt-305m"].architecture


def on_a_3090(run_id: str, **changes: Any) -> RunRecord:
    """Return a run of a network that is large enough to load an accelerator."""
    large = {"architecture": LARGE, "seq_len": 512, "parameters": 304_992_256, "precision": Precision.BF16}
    return measured(run_id, 10.0, **{"node": "rtx3090-x10", "accelerator": "RTX-3090"} | large | changes)


def of_a_larger_network(*runs: RunRecord) -> str | None:
    """Return the run that predicts a network of 600 million parameters on one RTX 3090; None without one."""
    return run_of(predicted(*runs, option=RTX_3090, workload={"ref": "qwen3-0.6b", "seq_len": 512}, **BF16))


def test_on_an_accelerator_a_large_network_informs_about_another() -> None:
    assert of_a_larger_network(on_a_3090("large")) == "large"


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"architecture": SMOKE}, id="a network bound by kernel launches"),
        pytest.param({"precision": Precision.FP32}, id="another precision"),
        pytest.param({"node": "pc-rtx4090"}, id="another machine"),
        pytest.param({"architecture": None}, id="an unknown network"),
        pytest.param({"seq_len": None}, id="samples of unknown length"),
    ],
)
def test_without_an_informative_run_the_prior_share_of_the_peak_is_taken(changes: dict[str, Any]) -> None:
    assert of_a_larger_network(on_a_3090("no", **changes)) is None


def test_a_run_on_another_count_does_not_inform() -> None:
    run = on_a_3090("two")
    hardware = run.hardware.model_copy(update={"accelerators_per_node": 2})
    assert of_a_larger_network(run.model_copy(update={"hardware": hardware})) is None


def test_the_usual_share_of_the_peak_by_hand(catalog: Catalog) -> None:
    """The rate is 71 TFLOP/s x 0.40 / FLOPs of a sample, 512 tokens x (6 N + 12 x 28 x 16 x 128 x 512).

    N is the number of weights in products, 595,984,384: 28 layers of 1,024 x (2,048 x 2 + 1,024 x 2) + 3 x 1,024 x
    3,072, and the head of 151,936 x 1,024.
    """
    products = 28 * (1024 * (2 * 2048 + 2 * 1024) + 3 * 1024 * 3072) + 151_936 * 1024
    assert products == 595_984_384
    sample = 512 * (6 * products + 12 * 28 * 16 * 128 * 512)
    prediction = predicted(option=RTX_3090, workload={"ref": "qwen3-0.6b", "seq_len": 512}, **BF16)
    assert isinstance(prediction, Prediction)
    assert prediction.samples_per_s.value == pytest.approx(71e12 * 0.40 / sample)
    assert prediction.samples_per_s.high == pytest.approx(2.2 * prediction.samples_per_s.value)


def test_without_a_peak_there_is_no_share_of_it() -> None:
    prediction = predicted()
    assert isinstance(prediction, NoPrediction)
    assert prediction.reason.code is ReasonCode.HARDWARE_NOT_KNOWN
    assert "the peak of CPU is not known" in prediction.reason.text


def test_a_network_bound_by_kernel_launches_has_no_share_of_the_peak() -> None:
    prediction = predicted(option=RTX_3090, **BF16)
    assert isinstance(prediction, NoPrediction)
    assert "which a share of the peak says nothing of" in prediction.reason.text
