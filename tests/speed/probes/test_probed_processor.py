"""Estimates for a processor, from the peaks that a probe measured; without a probe there are none."""

from datetime import date

import pytest

from planner.adapters.catalog import load_catalog
from planner.model.evidence.probe import KernelTime, ProbeRecord
from planner.model.evidence.run import RunHardware
from planner.speed.throughput.predict import predict, probed_processor
from planner.speed.throughput.prediction import NoPrediction, Prediction
from tests.speed.throughput.asking import asked

LAYER = {"tokens": 256, "hidden": 1024, "kv_dim": 256, "ffn_hidden": 3584}
MAPS = ((1024, 1024, 2), (1024, 256, 2), (1024, 3584, 2), (3584, 1024, 1))
GFLOP_PER_S = 50.0


def processor_probe(**changes: object) -> ProbeRecord:
    products = tuple(
        KernelTime(
            kind="products",
            shape={**LAYER, "inputs": inputs, "outputs": outputs, "times": times},
            precision="fp32",
            seconds=6 * 256 * inputs * outputs / (GFLOP_PER_S * 1e9),
            rounds=3,
        )
        for inputs, outputs, times in MAPS
    )
    copy = KernelTime(kind="copy", shape={"bytes": 10**9}, seconds=0.2, rounds=3)
    probe = ProbeRecord(
        schema_version=1, id="probe-cpu", measured_on=date(2026, 11, 27), seconds=50.0, kernels=(*products, copy),
        hardware=RunHardware(accelerator="CPU", node="local/2-core", nodes=1, accelerators_per_node=1),
    )  # fmt: skip
    return probe.model_copy(update=changes)


@pytest.fixture(scope="module")
def question():
    catalog = load_catalog()
    job, candidate = asked(
        catalog, {"own": "CPU"}, workload={"ref": "gpt-305m"}, training={"precision": "fp32", "strategy": "ddp"}
    )
    return catalog, job, candidate


def test_its_peak_is_the_best_product_and_its_bandwidth_the_copy_both_ways(question) -> None:
    catalog, _, candidate = question
    known = catalog.model_copy(update={"probes": {"probe-cpu": processor_probe()}})

    found = probed_processor(candidate, known)

    assert found is not None
    assert found.fp32_tflops == pytest.approx(0.05)
    assert found.hbm_gb_per_s == pytest.approx(10.0)


def test_a_processor_with_a_probe_is_estimated(question) -> None:
    """1.617 GFLOP per token (full attention) x 512 at 50 GFLOP/s take 16.6 s at best; no estimate is faster."""
    catalog, job, candidate = question
    known = catalog.model_copy(update={"probes": {"probe-cpu": processor_probe()}})

    assert isinstance(predict(job, candidate, catalog), NoPrediction)
    answer = predict(job, candidate, known)

    assert isinstance(answer, Prediction)
    assert 1 / 16.6 / 4 < answer.samples_per_s.value < 1 / 16.6 * 1.1


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": ("the rate fell",)},
        {"hardware": RunHardware(accelerator="H100-SXM", node=None, nodes=1, accelerators_per_node=1)},
    ],
    ids=["doubtful", "another kind"],
)
def test_a_doubtful_probe_or_one_of_another_kind_is_not_used(question, changes) -> None:
    catalog, job, candidate = question
    known = catalog.model_copy(update={"probes": {"probe-cpu": processor_probe(**changes)}})

    assert isinstance(predict(job, candidate, known), NoPrediction)
