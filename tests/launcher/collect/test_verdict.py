"""Every gate with one fault that triggers it, and the one sentence that it gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from planner.launcher.collect.expectations import Expected
from planner.launcher.collect.verdict import problems_of, wrong_speed
from planner.model.evidence.node_shapes import NodeResult
from planner.model.evidence.run import Probe

MakeResult = Callable[..., dict[str, Any]]

STEPS = 600
SPEED_IS_WRONG = "not finite|was to compute in|counts|count it as work|are counted|cannot be true"
"""Problems after which the speed is not a measurement of the stated setup."""


def steps(*thirds: float) -> dict[str, Any]:
    """600 steps, each third of them with one duration."""
    seconds = [duration for duration in thirds for _ in range(STEPS // len(thirds))]
    return {"step_seconds": seconds, "window_s": max(60.0, sum(seconds))}


def test_nothing_speaks_against_a_good_run(result: MakeResult) -> None:
    assert problems_of(NodeResult.model_validate(result())) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"warmup_steady": False, "exit_reason": "not_steady"}, "never became steady", id="not steady"),
        pytest.param({"window_s": 59.0}, "window is too short: 59 s and 600 steps; 60 s and 50 steps", id="short"),
        pytest.param({"step_seconds": [0.1, 0.11] * 300}, "step times scatter by 5% .*up to 3%", id="scattered steps"),
        pytest.param(steps(0.1, 0.1, 0.103), "steps became 3.0% slower .*up to 2%", id="drift up"),
        pytest.param(steps(0.103, 0.1, 0.1), "steps became 2.9% faster", id="drift down"),
        pytest.param({"losses_first10": [11.0, None]}, "loss is not finite", id="a first loss not finite"),
        pytest.param({"loss_last": None}, "loss is not finite", id="last loss not finite"),
        pytest.param(
            {"matmul_flops_by_dtype": {"float32": 9e11, "bfloat16": 1e11}},
            "was to compute in bf16, but .*90% in float32, 10% in bfloat16.*at least 95% must be in bfloat16",
            id="fp32 by accident",
        ),
        pytest.param({"tokens": 9_830_399}, "counts 9,830,399 tokens; .* is 9,830,400", id="tokens do not add up"),
        pytest.param({"padding_tokens": 500}, "500 tokens of padding are counted as tokens", id="padding counted"),
        pytest.param(
            {"tokens": 4_915_200, "padding_tokens": 4_915_200}, "50% of each sample is padding", id="padded samples"
        ),
        pytest.param({"data_wait_s": 3.0}, "5.0% of the window went by waiting for data", id="data wait"),
        pytest.param(
            {"rank_step_seconds": [0.1, 0.1, 0.13, 0.1]},
            "rank 2 took 1.30 times as long as the middle one for a step",
            id="straggler of four",
        ),
        pytest.param({"rank_step_seconds": [0.1, 0.12]}, "rank 1 took 1.20 times as long", id="straggler of two"),
        pytest.param({"rank_work_seconds": [0.002, 0.0024]}, "rank 1 took 1.20 .* same work", id="a slow device"),
        pytest.param(
            {"memory": {"in_use_before_gib": 20.0}}, "20.0 GiB of a device were in use before", id="not alone"
        ),
        pytest.param(
            {"telemetry": {"devices": [{"compute_processes": 1}, {"compute_processes": 2}]}},
            "2 processes computed on device 1 during the window: other processes",
            id="company on a device",
        ),
        pytest.param({"disk_problem": "No space left"}, r"could not be written \(No space left\)", id="full disk"),
        pytest.param({"memory": {"allocator_retries": 3.0}}, "tried again 3 times", id="allocator retries"),
    ],
)
def test_the_problems_of_a_run_are_named(result: MakeResult, changes: dict[str, Any], expected: str) -> None:
    made = NodeResult.model_validate(result(**changes))
    (problem,) = problems_of(made)
    assert bool(wrong_speed(made)) is bool(re.search(SPEED_IS_WRONG, problem))
    assert re.search(expected, problem), problem


@pytest.mark.parametrize(
    ("precision", "tf32_allowed", "expected"),
    [
        pytest.param("fp32", True, "TF32 was switched on", id="fp32 that is TF32"),
        pytest.param("tf32", False, "TF32 was switched off", id="TF32 that is fp32"),
        pytest.param("tf32", True, None, id="TF32"),
        pytest.param("fp32", False, None, id="fp32"),
    ],
)
def test_tf32_is_what_was_asked_for(
    result: MakeResult, precision: str, tf32_allowed: bool, expected: str | None
) -> None:
    made = result(tf32_allowed=tf32_allowed, matmul_flops_by_dtype={"float32": 1e12})
    made["spec"]["precision"] = precision
    problems = problems_of(NodeResult.model_validate(made))
    assert len(problems) == (expected is not None)
    assert expected is None or expected in problems[0]


# 320 samples/s on 8 devices: 40 x 2.5e12 FLOPs a second on each of them, 10 % of a peak of 1,000 TFLOP/s.
MODEL_FLOPS = Expected(flops_per_sample={"full_attention": 2.5e12}, peak_tflop_per_s=1000.0)
LOSSES = Expected(first_losses=(11.0, 10.6), loss_tolerance=0.005)


@pytest.mark.parametrize(
    ("expected", "changes", "said"),
    [
        pytest.param(replace(MODEL_FLOPS, least_mfu=0.2), {}, "10.0% of the accelerator's nominal", id="low MFU"),
        pytest.param(replace(MODEL_FLOPS, least_mfu=0.09), {}, None, id="MFU over its floor"),
        pytest.param(replace(MODEL_FLOPS, least_mfu=0.2, peak_tflop_per_s=None), {}, None, id="no known peak"),
        pytest.param(LOSSES, {}, "loss of step 2 is 10.5000, and the reference 10.6000", id="a loss off by 1 %"),
        pytest.param(LOSSES, {"losses_first10": [11.05, 10.55]}, None, id="losses within 0.5 %"),
        # 100 GiB reserved and 0.5 GiB of context
        pytest.param(Expected(device_memory_gib=80.0), {}, "100.5 GiB, 1.26 times the 80.0 GiB", id="1.26"),
        pytest.param(Expected(device_memory_gib=130.0), {}, "100.5 GiB, 0.77 times the", id="0.77"),
        pytest.param(Expected(device_memory_gib=82.0), {}, None, id="1.23"),
        pytest.param(Expected(device_memory_gib=1.0), {"memory": {"peak_rss_gib": 9.0}}, None, id="a CPU"),
    ],
)
def test_the_speed_is_compared_with_that_expected_of_network_and_device(
    result: MakeResult, expected: Expected, changes: dict[str, Any], said: str | None
) -> None:
    problems = problems_of(NodeResult.model_validate(result(**changes)), (), expected)
    assert len(problems) == (said is not None)
    assert said is None or said in problems[0], problems


FASTER_AT_8 = (Probe(micro_batch=4, samples_per_s=100.0), Probe(micro_batch=8, samples_per_s=120.0))
NO_FASTER_AT_8 = (Probe(micro_batch=4, samples_per_s=100.0), Probe(micro_batch=8, samples_per_s=104.0))
FULL_AT_8 = (Probe(micro_batch=4, samples_per_s=100.0), Probe(micro_batch=8, samples_per_s=None))
RETRIES_AT_8 = (Probe(micro_batch=4, samples_per_s=100.0), Probe(micro_batch=8, samples_per_s=120.0, refused="retries"))
ROOM = {"peak_reserved_gib": 14.0, "device_gib": 140.0}
NO_ROOM = {"peak_reserved_gib": 100.0, "device_gib": 140.0}


@pytest.mark.parametrize(
    ("probes", "memory", "undersaturated"),
    [
        pytest.param(FASTER_AT_8, ROOM, True, id="room, and faster"),
        pytest.param(NO_FASTER_AT_8, ROOM, False, id="no faster"),
        pytest.param(FASTER_AT_8, NO_ROOM, False, id="no room"),
        pytest.param(FULL_AT_8, ROOM, False, id="out of memory"),
        pytest.param(RETRIES_AT_8, ROOM, False, id="faster, but refused"),
        pytest.param(FASTER_AT_8[:1], ROOM, False, id="never tried"),
        pytest.param((), ROOM, False, id="no probes"),
        pytest.param(FASTER_AT_8, {"peak_rss_gib": 1.0}, True, id="on a CPU: 8 processes of 1 GiB in 64 GiB"),
    ],
)
def test_a_tiny_batch_on_a_device_with_room(
    result: MakeResult, probes: tuple[Probe, ...], memory: dict[str, float], undersaturated: bool
) -> None:
    made = result(memory=memory)
    made["environment"]["ram_gib"] = 64.0
    problems = problems_of(NodeResult.model_validate(made), probes)
    assert len(problems) == undersaturated
    if undersaturated:
        assert "at micro-batch 4, and was 20% faster at 8" in problems[0]


def test_the_device_that_was_held_back_is_named(result: MakeResult) -> None:
    free = {"throttle_shares": {"power_cap": 1.0}, "power_limit_w": 700.0, "default_power_limit_w": 700.0}
    telemetry = {"energy_j": None, "devices": [free, free | {"power_limit_w": 500.0}]}
    assert problems_of(NodeResult.model_validate(result(telemetry=telemetry))) == [
        "device 1 ran under a power limit of 500 W, below its factory limit of 700 W"
    ]


@pytest.mark.parametrize(
    ("ceiling", "sdpa_backend", "said"),
    [
        pytest.param(10.2, "math", False, id="10 TFLOP/s of 10.2"),
        pytest.param(9.9, "math", False, id="over by 1 %"),
        pytest.param(9.7, "math", True, id="over by 3 %"),
        # attention: 4 sequences x 16 layers x 7 products x 2 x 512^2 x 1024, half of it 0.12 TFLOP, 1.2 TFLOP/s
        pytest.param(9.7, "flash", False, id="over by 3 %, but a causal kernel may skip half of attention"),
        pytest.param(8.5, "flash", True, id="over even so"),
    ],
)
def test_nothing_multiplies_faster_than_the_device_can(
    result: MakeResult, ceiling: float, sdpa_backend: str, said: bool
) -> None:
    calibration = {"matmul_tflop_per_s": 1.0, "rank_matmul_tflop_per_s": [1.0, ceiling]}
    made = result(matmul_flops_by_dtype={"bfloat16": 1e12}, sdpa_backend=sdpa_backend, calibration=calibration)
    problems = problems_of(NodeResult.model_validate(made))
    assert len(problems) == said
    assert not said or "it cannot be true" in problems[0]
