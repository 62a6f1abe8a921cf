"""The runs taken from the documents, against arithmetic done by hand on the documents' own figures."""

from __future__ import annotations

import pytest

from planner.model.network.workload import Strategy
from planner.model.plan.plan import FlopsConvention
from planner.network.flops import flops_per_token
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
RUNS = CATALOG.runs


def samples_per_s(run_id: str) -> float:
    return RUNS[run_id].throughput.value


# Document 000


def test_the_dgx_station_needs_5669_hours_an_epoch():
    samples = 19_252 * 128
    assert samples == 2_464_256
    seconds = samples / samples_per_s("seed-000-dgx-station-v100")
    assert seconds == pytest.approx(20_407.12, rel=1e-6)
    assert seconds / 3600 == pytest.approx(5.669, abs=5e-4)
    assert 10 * seconds / 3600 == pytest.approx(56.69, abs=5e-3)
    assert 50 * 10 * seconds / 86_400 == pytest.approx(118.1, abs=0.05)


def test_the_dgx_station_record_names_no_model():
    run = RUNS["seed-000-dgx-station-v100"]
    assert (run.architecture, run.parameters, run.strategy, run.precision) == (None, None, None, None)
    assert (run.global_batch, run.micro_batch, run.step_seconds) == (128, 32, 1.06)


# Document 003


@pytest.mark.parametrize(
    ("machine", "gpus", "ddp", "zero2"),
    [
        pytest.param("x1", 1, 27.4, 27.5, id="1 GPU"),
        pytest.param("x2", 2, 29.3, 31.4, id="2 GPUs"),
        pytest.param("x4", 4, 28.6, 36.3, id="4 GPUs"),
        pytest.param("x8", 8, 39.6, 59.4, id="8 GPUs"),
        pytest.param("x10", 10, 47.9, 52.6, id="10 GPUs"),
        pytest.param("2n-x20", 20, 73.3, 82.8, id="two nodes, 20 GPUs"),
    ],
)
def test_the_rtx_3090_table_is_carried_over(machine, gpus, ddp, zero2):
    for strategy, expected in ((Strategy.DDP, ddp), (Strategy.ZERO2, zero2)):
        run = RUNS[f"seed-003-rtx3090-{strategy.value}-{machine}"]
        assert run.throughput.value == expected
        assert run.strategy is strategy
        assert run.hardware.accelerators == gpus
        assert run.global_batch == 4 * gpus
        assert run.environment["p2p"] == "CNS"


def test_the_ten_gpu_zero2_run_was_made_twice_and_both_are_kept():
    assert samples_per_s("seed-003-rtx3090-zero2-x10") == 52.6
    assert samples_per_s("seed-003-rtx3090-zero2-x10-b") == 51.6


@pytest.mark.parametrize(
    ("faster", "slower", "ratio"),
    [
        pytest.param("ddp-x10", "ddp-x1", 1.75, id="ten GPUs with DDP"),
        pytest.param("zero2-x10", "zero2-x1", 1.91, id="ten GPUs with ZeRO-2, which the report's column follows"),
        pytest.param("ddp-2n-x20", "ddp-x10", 1.53, id="second node with DDP"),
        pytest.param("zero2-2n-x20", "zero2-x10-b", 1.60, id="second node with ZeRO-2"),
        pytest.param("zero2-2n-x20", "ddp-x10", 1.73, id="the report's 1.73: ZeRO-2 over DDP"),
    ],
)
def test_the_speed_up_of_the_rtx_3090_cluster(faster, slower, ratio):
    found = samples_per_s(f"seed-003-rtx3090-{faster}") / samples_per_s(f"seed-003-rtx3090-{slower}")
    assert found == pytest.approx(ratio, abs=5e-3)


def test_one_rtx_3090_alone_cannot_tell_its_precision():
    run = RUNS["seed-003-rtx3090-ddp-x1"]
    per_token = flops_per_token(run.architecture, seq_len=512, convention=FlopsConvention.FULL_ATTENTION)
    tflops = 27.4 * 512 * per_token / 1e12
    assert tflops == pytest.approx(22.7, abs=0.05)
    card = CATALOG.accelerators["RTX-3090"]
    assert tflops / card.bf16_tflops == pytest.approx(0.32, abs=5e-3)
    assert tflops / card.fp32_tflops == pytest.approx(0.64, abs=5e-3)
    assert all(RUNS[name].precision is None for name in RUNS if name.startswith("seed-003"))


# Document 004


@pytest.mark.parametrize("name", ["seed-004-p5e-h200", "seed-004-onprem-a100"])
def test_both_support_case_runs_trained_the_same_samples(name):
    run = RUNS[name]
    assert run.samples == 14_186_582
    assert run.throughput.value * run.wall_seconds == pytest.approx(14_186_582, abs=1)


def test_the_h200_was_measured_1_53_times_as_fast():
    ratio = samples_per_s("seed-004-p5e-h200") / samples_per_s("seed-004-onprem-a100")
    assert ratio == pytest.approx(1.53, abs=5e-3)


@pytest.mark.parametrize(
    ("name", "tokens_per_s_per_gpu", "full_share", "causal_share"),
    [
        pytest.param("seed-004-p5e-h200", 70_300, 0.45, 0.35, id="H200: possible"),
        pytest.param("seed-004-onprem-a100", 46_000, 0.94, 0.73, id="A100: impossible, best published is 0.69"),
    ],
)
def test_the_share_of_peak_that_the_support_case_claims(name, tokens_per_s_per_gpu, full_share, causal_share):
    run = RUNS[name]
    per_gpu = run.throughput.value * 4096 / 32
    assert per_gpu == pytest.approx(tokens_per_s_per_gpu, abs=50)
    peak = CATALOG.accelerators[run.hardware.accelerator].bf16_tflops * 1e12
    for convention, share in (
        (FlopsConvention.FULL_ATTENTION, full_share),
        (FlopsConvention.CAUSAL, causal_share),
    ):
        per_token = flops_per_token(run.architecture, seq_len=4096, convention=convention)
        assert per_gpu * per_token / peak == pytest.approx(share, abs=6e-3)


def test_the_support_case_says_why_it_ranks_nothing():
    for name in ("seed-004-p5e-h200", "seed-004-onprem-a100"):
        assert any("cannot rank" in line for line in RUNS[name].verdict)
        assert "8 GPUs a node" in (RUNS[name].note or "")
    assert "cannot be true" in RUNS["seed-004-onprem-a100"].verdict[0]
