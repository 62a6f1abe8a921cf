"""Verdicts about results recorded on an H100: the figures in the sentences are the recorded ones."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from planner.launcher.collect.verdict import problems_of
from planner.model.evidence.node_shapes import NodeResult
from planner.use_cases.expectations import expect_from
from tests.bundled import bundled_catalog
from tests.launcher.collect.h100 import NAMES, h100_document, h100_record, h100_result

OF_CLOCKS = re.compile(r"clock|power|MHz|slowed")


def problems(name: str, **changes: Any) -> list[str]:
    """Return the reasons for doubt, memory estimates left out: they have tests of their own."""
    result = h100_result(name, **changes)
    found = problems_of(result, (), expect_from(bundled_catalog())(result, "H100-SXM"))
    return [problem for problem in found if "GiB estimated" not in problem]


@pytest.mark.parametrize("name", NAMES)
def test_an_h100_at_its_factory_power_limit_is_not_held_back(name: str) -> None:
    """Results, all but four of which worked at 700 W for more than half of the time."""
    assert not [problem for problem in problems(name) if OF_CLOCKS.search(problem)]


def test_the_headline_is_doubted_for_its_window_of_30_s_alone() -> None:
    """80,560 tokens/s of 6.3945 GFLOP are 52.1 % of 989.4 TFLOP/s, of 4.9852 causal GFLOP 40.6 %."""
    record = h100_record("qwen3-0.6b-compiled")
    (problem,) = problems("qwen3-0.6b-compiled")
    assert problem.startswith("the window is too short: 30.1 s")
    assert record.mfu["full_attention_of_nominal_peak"] == pytest.approx(0.521, abs=0.001)
    assert record.mfu["causal_of_nominal_peak"] == pytest.approx(0.406, abs=0.001)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param({"power_limit_w": 692.0}, "power limit of 692 W, below its factory limit of 700 W", id="1.1 %"),
        pytest.param({"power_limit_w": 694.0}, None, id="a limit 0.9 % lower"),
        pytest.param({"throttle_shares": {"power_cap": 1.0, "sw_thermal": 0.06}}, "in 6% of .*heat, by the dr", id="h"),
        pytest.param({"throttle_shares": {"hw_power_brake": 0.5}}, "in 50% of .*power brake", id="power brake"),
        pytest.param({"throttle_shares": {"power_cap": 1.0, "hw_thermal": 0.05}}, None, id="heat in 5 %"),
        pytest.param({"mean_sm_clock_mhz": 1484.0}, "ran at 1,484 MHz .* keep 1,485 MHz", id="75 % of 1,980 MHz"),
        pytest.param({"mean_sm_clock_mhz": 1486.0}, None, id="just over it"),
        pytest.param(
            {"mean_sm_clock_mhz": 1200.0, "power_limit_w": 400.0}, "power limit of 400 W", id="low by its limit"
        ),
    ],
)
def test_throttling_of_a_device_is_named(changes: dict[str, Any], said: str | None) -> None:
    telemetry = copy.deepcopy(h100_document("qwen3-0.6b-compiled")["telemetry"])
    telemetry["devices"][0] |= changes
    found = [problem for problem in problems("qwen3-0.6b-compiled", telemetry=telemetry) if "window" not in problem]
    assert len(found) == (said is not None), found
    assert said is None or re.search(said, found[0]), found


def test_low_clocks_of_a_model_without_recorded_runs_are_not_judged() -> None:
    telemetry = copy.deepcopy(h100_document("qwen3-0.6b-compiled")["telemetry"])
    telemetry["devices"][0]["mean_sm_clock_mhz"] = 900.0
    environment = {"accelerator_name": "NVIDIA L4"}
    found = problems("qwen3-0.6b-compiled", telemetry=telemetry, environment=environment)
    assert not [problem for problem in found if OF_CLOCKS.search(problem)]


@pytest.mark.parametrize(
    ("name", "busy_s", "step_s", "bound"),
    [
        # Seconds of work in a step by torch.profiler on that H100.
        pytest.param("gpt-305m-micro-batch-4", 0.0225, 6.0274 / 156, True, id="micro-batch 4"),
        pytest.param("gpt-305m-zero3", 0.1216, 6.1750 / 25, True, id="ZeRO-3"),
        pytest.param("gpt-305m-zero2", 0.1195, 6.0177 / 41, False, id="ZeRO-2: 81 %"),
        pytest.param("gpt-305m", 0.1211, 6.0321 / 49, False, id="micro-batch 32: 98 %"),
    ],
)
def test_a_run_that_waits_for_the_host_is_host_bound(name: str, busy_s: float, step_s: float, bound: bool) -> None:
    found = problems(name, device_busy_seconds=busy_s)
    said = [problem for problem in found if problem.startswith("host-bound")]
    assert len(said) == bound
    if bound:
        assert f"{busy_s:.3g} s of a {step_s:.3g} s step ({busy_s / step_s:.0%};" in said[0]
        assert "larger --micro-batch, --compile" in said[0]
        assert not [problem for problem in found if "scatter" in problem or "MFU" in problem]
    without = problems(name)
    assert [problem for problem in found if problem not in said and "scatter" not in problem] == [
        problem for problem in without if "scatter" not in problem and not (bound and "MFU" in problem)
    ]


def test_scattered_steps_of_a_device_that_is_busy_are_still_a_reason() -> None:
    assert [
        problem for problem in problems("gpt-305m-zero2", device_busy_seconds=0.1195) if "scatter by 12%" in problem
    ]


def test_waiting_for_data_is_not_called_host_bound() -> None:
    """A device at work for 70 % of a step, and 15 % of the window without data."""
    facts = {"device_busy_seconds": 0.7 * 6.0321 / 49, "data_wait_s": 0.15 * 6.0321}
    found = problems("gpt-305m", **facts)
    assert not [problem for problem in found if "host-bound" in problem]
    assert [problem for problem in found if "waiting for data" in problem]


def test_a_loss_that_rises_is_reported() -> None:
    assert [problem for problem in problems("llama3-8b-4layers") if "loss" in problem] == [
        "the loss rose from 12.5 (step 1) to 31.2 (step 2): the learning rate is too high for this network, or the "
        "data are wrong"
    ]


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        pytest.param([10.0, 8.0, 9.6], "from 8 (step 2) to 9.6 (step 3)", id="20 % over the lowest before"),
        pytest.param([10.0, 8.0, 9.5], None, id="19 %"),
        pytest.param([8.0, None, 10.0], "from 8 (step 1) to 10 (step 3)", id="a step that is not finite"),
        pytest.param([], None, id="none"),
    ],
)
def test_a_loss_that_rises_by_a_fifth(losses: list[float | None], said: str | None) -> None:
    found = [problem for problem in problems("gpt-305m", losses_first10=losses) if "loss rose" in problem]
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_a_run_beside_other_processes_says_so_and_its_memory_is_not_compared() -> None:
    """17.5 GiB were theirs."""
    result = h100_result("gpt-305m-beside-others")
    found = problems_of(result, (), expect_from(bundled_catalog())(result, "H100-SXM"))
    assert [problem for problem in found if "17.5 GiB of a device were in use before the run began" in problem]
    assert not [problem for problem in found if "estimated" in problem]
    allowed = NodeResult.model_validate(h100_document("gpt-305m", busy_before_share=0.4))
    assert [problem for problem in problems_of(allowed) if "kernels ran 40% of the time" in problem]


@pytest.mark.parametrize(
    ("name", "reached", "least"),
    [
        # images/s or samples/s x GFLOP / 989.4 TFLOP/s
        pytest.param("gpt-305m", 259.9 * 512 * 1.6174e9 / 989.4e12, 0.17, id="gpt-305m, eager"),
        pytest.param("qwen3-0.6b-eager", 12.93 * 4096 * 6.3945e9 / 989.4e12, 0.27, id="qwen3, eager"),
        pytest.param("qwen3-0.6b-compiled", 19.667 * 4096 * 6.3945e9 / 989.4e12, 0.41, id="qwen3, compiled"),
        pytest.param("resnet50", 3960 * 24.30e9 / 989.4e12, 0.055, id="resnet50"),
        pytest.param("vit-b16", 2913 * 105.2e9 / 989.4e12, 0.24, id="vit-b16, compiled"),
    ],
)
def test_the_speed_of_one_h100_exceeds_the_least_of_the_workload(name: str, reached: float, least: float) -> None:
    """A run at half of that speed is under it."""
    result = h100_result(name)
    expected = expect_from(bundled_catalog())(result, "H100-SXM")
    assert expected.least_mfu == least
    assert least < 0.85 * reached
    assert h100_record(name).mfu["full_attention_of_nominal_peak"] == pytest.approx(reached, rel=0.005)
    assert not [problem for problem in problems(name) if "MFU" in problem]
    slow = [problem for problem in problems(name, samples=round(result.samples * 0.5)) if "MFU" in problem]
    assert len(slow) == 1
    assert f"reaches {100 * least:.3g}% at least" in slow[0]
    assert "causal" in slow[0]
