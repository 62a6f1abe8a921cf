from __future__ import annotations

from datetime import date

import pytest

from planner.adapters.workspace import examples_dir
from planner.decide.options.estimate_plan import estimate_options
from planner.decide.outcomes.stated_time import interruptions_of
from planner.duration.goodput import losses
from planner.model.plan.plan import Plan
from planner.use_cases.plans import read_plan

TODAY = date(2026, 11, 21)
SPOT = {
    "schema_version": 1, "name": "spot", "workload": {"ref": "llama3-8b"}, "work": {"tokens": 1e9},
    "options": [{"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "spot"}],
    "data": {"dataset_gb": 40.0, "storage": {"read_gb_per_s": 0.0001}},
}  # fmt: skip


@pytest.mark.parametrize("name", ["dgx_station_v100", "own_8xh200", "p5e_vs_a100", "qlora_llama3_8b"])
def test_the_recovered_interruptions_give_the_estimate_again(catalog, name):
    plan = read_plan(examples_dir() / f"{name}.yaml")
    times = [
        option.option.time for option in estimate_options(plan, catalog, today=TODAY).options if option.option.time
    ]
    assert times
    for time in times:
        expected = time.wall_hours.value / time.lines[0].hours.value
        assert losses(interruptions_of(time)).total == pytest.approx(expected, rel=1e-6)


def test_preemptions_failures_restarts_and_checkpoints_are_distinguished(catalog):
    plan = Plan.model_validate(
        SPOT | {
            "data": {},
            "goodput": {
                "gpu_hours_per_failure": 800, "node_hours_per_preemption": 20, "restart_hours": 0.5,
                "checkpoint_interval_hours": 2, "checkpoint_writing": "synchronous", "evaluation_fraction": 0.1,
            },
        }
    )  # fmt: skip
    (found,) = estimate_options(plan, catalog, today=TODAY).options
    lost = interruptions_of(found.option.time)
    assert lost.failures_per_hour == pytest.approx(8 / 800, rel=1e-6)
    assert lost.preemptions_per_hour == pytest.approx(1 / 20, rel=1e-6)
    assert lost.restart_hours == pytest.approx(0.5, rel=1e-6)
    assert lost.evaluation == pytest.approx(0.1, rel=1e-6)
    assert lost.interval_hours == pytest.approx(2.0)
    assert lost.unsaved_hours == pytest.approx(0.0, abs=1e-6)
    assert lost.checkpoint_hours > 0


def test_a_stated_goodput_leaves_nothing_to_chance(catalog):
    plan = Plan.model_validate(SPOT | {"data": {}, "assumptions": {"goodput_fraction": 0.8}})
    (found,) = estimate_options(plan, catalog, today=TODAY).options
    lost = interruptions_of(found.option.time)
    assert lost.per_hour == 0
    assert losses(lost).total == pytest.approx(1 / 0.8)
