"""The command that measures an option trains what the plan states; otherwise there is no command."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.decide.advice.case import Case
from planner.decide.advice.launch_words import AskedPlan, launch_words
from planner.model.plan.plan import Plan
from tests.bundled import bundled_catalog

ANSWER = "3f09c2d47a1e"
PLAN: dict[str, Any] = {
    "schema_version": 1,
    "name": "Which machine?",
    "workload": {"ref": "qwen3-0.6b"},
    "work": {"tokens": 1e9},
    "options": [{"own": "H100-SXM", "count": 1}],
}


def words(training: dict[str, Any]) -> tuple[str, ...] | None:
    plan = Plan.model_validate(PLAN | {"training": {"precision": "bf16"} | training})
    case = Case.of(plan, bundled_catalog(), today=date(2026, 11, 26))
    (option,) = case.campaign().options
    return launch_words(case, case.paced[0], option, plan=AskedPlan("plan.yaml", ANSWER))


@pytest.mark.parametrize(
    ("training", "flags"),
    [
        pytest.param({}, (), id="nothing stated"),
        pytest.param({"kernels": "eager"}, (), id="eager kernels, as the benchmark has them by default"),
        pytest.param({"kernels": "fused"}, ("--compile",), id="fused kernels are compiled"),
        pytest.param({"loss": "chunked"}, ("--loss-chunks", "8"), id="a loss in chunks"),
        pytest.param({"kernels": "fused", "loss": "chunked"}, ("--compile", "--loss-chunks", "8"), id="both"),
        pytest.param({"optimizer": "adamw", "weights": "mixed"}, (), id="what the benchmark does anyway"),
    ],
)
def test_the_command_trains_as_the_plan_states(training: dict[str, Any], flags: tuple[str, ...]) -> None:
    found = words(training)
    assert found is not None
    assert found[:3] == ("planner", "bench", "plan.yaml")
    assert found[-2:] == ("--answer", ANSWER)
    assert [flag for flag in found if flag in ("--compile", "--loss-chunks", "8")] == list(flags)


@pytest.mark.parametrize(
    "training",
    [
        pytest.param({"optimizer": "adafactor"}, id="optimizer"),
        pytest.param({"weights": "16bit"}, id="weights"),
        pytest.param({"offload": "optimizer"}, id="offload"),
        pytest.param({"framework": "HF Trainer"}, id="framework"),
        pytest.param({"kernels": "eager", "loss": "fused"}, id="a loss that it has not"),
    ],
)
def test_a_run_that_would_be_no_measurement_of_the_plan_is_not_advised(training: dict[str, Any]) -> None:
    assert words(training) is None
