"""Factors from benchmark speed to whole trainings, by hand; parts that are not stretched; resulting costs."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import pytest

from planner.cost.cloud.bill import PRACTICE as BILLED
from planner.decide.options.estimate_plan import estimate_options
from planner.duration.practice import factors
from planner.model.answer.documents import EstimateDocument
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.evidence.whole_training import PracticeFit, TrainingKind
from planner.model.plan.convergence import Practice
from planner.model.plan.plan import Plan
from tests.bundled import bundled_catalog

FIT = PracticeFit(
    made_on=date(2026, 11, 24), trainings=70, sources=36, table_sha256="-",
    middle={TrainingKind.PRETRAINING: 0.3, TrainingKind.FULL: 0.6, TrainingKind.LORA: 0.5, TrainingKind.IMAGES: -0.2},
    between=0.3, within=0.3,
)  # fmt: skip
CATALOG = bundled_catalog().model_copy(update={"practice": FIT})
GPT = {"ref": "gpt-305m", "seq_len": 512}
P4D = {"offer": "aws/p4d.24xlarge", "usd_per_hour": 24.0}


def plan(**changes: Any) -> Plan:
    fields: dict[str, Any] = {
        "schema_version": 1, "name": "by hand", "workload": GPT, "work": {"tokens": 2.0e9},
        "training": {"precision": "bf16"}, "options": [P4D],
        "assumptions": {"setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0},
    }  # fmt: skip
    return Plan.model_validate(fields | changes)


def document(asked: Plan, catalog: Any = CATALOG) -> EstimateDocument:
    return estimate_options(asked, catalog).document


def option(asked: Plan, catalog: Any = CATALOG) -> OptionEstimate:
    (found,) = document(asked, catalog).options
    return found


class TestFactors:
    def test_by_hand(self):
        typical, tuned = factors(FIT, TrainingKind.PRETRAINING)
        assert typical == pytest.approx((1.3499, 1.3499 / 1.8957, 1.3499 * 1.8957), rel=1e-3)  # e^0.3, e^(2.132 x 0.3)
        assert tuned == pytest.approx((1.1027, typical.low, typical.value), rel=1e-3)  # e^(0.3 - 0.674 x 0.3)

    def test_nothing_is_faster_than_a_benchmark(self):
        typical, tuned = factors(FIT, TrainingKind.IMAGES)
        assert (typical.value, tuned.value) == (1.0, 1.0)

    def test_own_whole_trainings_leave_less_to_add(self):
        typical, _ = factors(FIT, TrainingKind.PRETRAINING, own_logs=3)  # w = 1 / (1 + 3) = 0.25
        assert typical.value == pytest.approx(1.0779, rel=1e-3)  # e^0.075
        assert typical.high / typical.value == pytest.approx(1.3768, rel=1e-3)  # e^(2.132 x 0.3 x 0.5)


class TestInAPlan:
    def test_typical_is_the_default_and_stands_beside_the_others(self):
        found = option(plan())
        hours = {practice.practice: practice.wall_hours.value for practice in found.time.practices}
        assert found.wall_hours.value == pytest.approx(hours[Practice.TYPICAL])
        assert hours[Practice.TYPICAL] == pytest.approx(1.3499 * hours[Practice.BENCHMARK], rel=1e-3)
        total = math.fsum(line.hours.value for line in found.time.lines)
        assert total == pytest.approx(found.wall_hours.value)

    @pytest.mark.parametrize(("practice", "factor"), [("benchmark", 1.0), ("tuned", 1.1027), ("typical", 1.3499)])
    def test_money_follows(self, practice: str, factor: float):
        benchmark = option(plan(practice="benchmark"))
        found = option(plan(practice=practice))
        lines = {line.what: line.usd.value for line in found.bill.lines}
        added = benchmark.wall_hours.value * (factor - 1) * 24.0
        assert lines.get(BILLED, 0.0) == pytest.approx(added, rel=2e-3, abs=0.01)
        assert found.usd_total.value >= benchmark.usd_total.value

    def test_few_tokens_for_its_size_are_fine_tuning(self):
        found = option(plan(work={"tokens": 3.0e7}))  # 305M parameters x 0.2 = 61M
        assert found.time.practices[1].factor.value == pytest.approx(1.8221, rel=1e-3)  # e^0.6

    def test_adapters(self):
        found = option(plan(training={"precision": "bf16", "adapters": {"rank": 8}}))
        assert found.time.practices[1].factor.value == pytest.approx(1.6487, rel=1e-3)  # e^0.5

    def test_a_line_says_what_is_assumed_and_what_tuned_would_give(self):
        factor = option(plan()).time.practices[1].factor
        seen = f"{factor.low:.2g} to {factor.high:.2g}"
        assert document(plan()).notes == (
            f"times are as people get them, 1.3 x the benchmark's ({seen}); `practice: tuned` would be 1.1 x",
        )
        assert document(plan(practice="benchmark")).notes == (
            "times are a benchmark's; people usually take 1.3 x as long, tuned trainings 1.1 x",
        )


STEP = {"batch": 10, "seconds": 1.0, "basis": "measured"}


class TestNotStretched:
    @pytest.mark.parametrize(
        "changes",
        [
            pytest.param({"options": [P4D | {"step": STEP}]}, id="a step measured there"),
            pytest.param({"assumptions": {"goodput_fraction": 0.9}}, id="the plan says what is lost"),
            pytest.param({"assumptions": {"mfu": 0.4}}, id="the plan says its utilisation"),
        ],
    )
    def test_what_the_plan_says_itself(self, changes: dict[str, Any]):
        found = option(plan(**changes))
        assert found.time.practices == ()
        assert document(plan(**changes)).notes == ()

    def test_a_lock_of_before(self):
        found = option(plan(), CATALOG.model_copy(update={"practice": None}))
        assert found.time.practices == ()
        assert found.wall_hours.value == pytest.approx(option(plan(practice="benchmark")).wall_hours.value)
