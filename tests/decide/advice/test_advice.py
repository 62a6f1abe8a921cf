"""Turning points, the value of measurements and the cost of more certainty agree with the rule itself."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from planner.adapters.workspace import examples_dir
from planner.decide.advice.busy_share import busy_points
from planner.decide.advice.case import Case
from planner.decide.advice.inputs import moved_inputs
from planner.decide.advice.launch_words import AskedPlan
from planner.decide.advice.measuring import PROBE_HOURS, ValuedRun, run_usd, worth_measuring
from planner.decide.advice.option_rule import OptionRule
from planner.decide.advice.recommend import recommend
from planner.decide.advice.turning import turning_points
from planner.decide.options.error_causes import of_speed
from planner.decide.outcomes.draws import mixed
from planner.decide.owning.own_or_rent import own_or_rent
from planner.decide.recommend.answer_plan import answer_plan
from planner.model.plan.plan import Plan
from planner.use_cases.plans import read_plan

TODAY = date(2026, 11, 21)
P5EN, G6E = "aws/p5en.48xlarge", "aws/g6e.48xlarge"


def plan(*options: dict[str, Any], **changes: Any) -> Plan:
    """Return Llama 3 8B on machines whose prices nearly make up for their speeds."""
    fields = {
        "schema_version": 1, "name": "near", "workload": {"ref": "llama3-8b"}, "work": {"tokens": 3e9},
        "campaign": {"runs": 4}, "options": list(options),
    }  # fmt: skip
    return Plan.model_validate(fields | changes)


def offer(name: str, usd: float, **changes: Any) -> dict[str, Any]:
    return {"offer": name, "region": "us-east-1", "usd_per_hour": usd} | changes


def stepped(name: str, usd: float, seconds: float, factor: float) -> dict[str, Any]:
    step = {
        "batch": 32, "seconds": seconds, "low_seconds": seconds / factor, "high_seconds": seconds * factor,
        "basis": "modelled",
    }  # fmt: skip
    return offer(name, usd, step=step)


NEAR = plan(offer(P5EN, 36.0), offer(G6E, 8.1), offer("aws/p5.48xlarge", 36.0))


def case_of(asked: Plan, catalog) -> Case:
    return Case.of(asked, catalog, today=TODAY)


@pytest.mark.parametrize("name", ["price", "speed", "trainings", "electricity", "preemption"])
def test_at_a_turning_point_the_rule_itself_turns(catalog, name):
    """A percent before the point the answer is today's, a percent beyond it another one. Preemptions: ten percent."""
    spot, own = offer(P5EN, 28.0, price="spot"), {"own": "RTX-4090", "count": 8}
    asked = {
        "preemption": plan(spot, offer(P5EN, 36.0), goodput={"node_hours_per_preemption": 12, "restart_hours": 1}),
        "trainings": plan(own, offer(P5EN, 36.0), campaign={"runs": 4, "deadline": "2027-06-30"}),
        "electricity": plan(own | {"power_kw": 4.0}, offer(P5EN, 10.0)),
    }.get(name, NEAR)  # fmt: skip
    case = case_of(asked, catalog)
    options = case.campaign().options
    before = case.decide(options).answer
    inputs = [moved for moved in moved_inputs(case, options, options) if moved.name == name]
    found = [(moved, point) for moved in inputs for point in turning_points(case, options, moved)]
    assert found
    for moved, point in found:
        beyond = 1 if point.side == "above" else -1
        step = 1.1 if name == "preemption" else 1.01  # interruptions are drawn anew at every rate
        assert case.decide(moved.options_at(point.at * step**beyond)).answer == point.then != before
        short = point.at - beyond if moved.whole else point.at / step**beyond
        assert case.decide(moved.options_at(short)).answer == before


def test_a_price_that_turns_the_answer_turns_it_in_the_plan(catalog):
    case = case_of(NEAR, catalog)
    options = case.campaign().options
    chosen = case.decide(options).option
    price = next(
        moved
        for moved in moved_inputs(case, options, options)
        if moved.name == "price" and moved.option.id == chosen.id
    )
    point = next(point for point in turning_points(case, options, price) if point.side == "above")
    assert answer_plan(NEAR, catalog, today=TODAY).recommended == chosen.id
    listed = [option.model_dump(mode="json", exclude_none=True) for option in NEAR.options]
    dearer = [
        option | {"usd_per_hour": point.at * 1.01} if option["offer"] == chosen.offer else option for option in listed
    ]
    assert answer_plan(plan(*dearer), catalog, today=TODAY).recommended == point.then


def test_the_same_machine_at_two_prices_errs_as_one(catalog):
    case = case_of(plan(offer(P5EN, 36.0), offer(P5EN, 20.0, price="spot"), offer(G6E, 2.2)), catalog)
    same, twin, other = (mixed(of_speed(option.error_causes)) for option in case.campaign().options)
    assert (same == twin).all()
    assert 0.1 < np.mean(same * other) < 0.95, "the estimator errs alike on all machines of a site"


def valued_of(case: Case) -> tuple[float, list[ValuedRun]]:
    rule = OptionRule.of(case, case.campaign().options)
    assert rule is not None
    return worth_measuring(rule, case)


def test_a_run_costs_its_set_up_twenty_minutes_and_the_idle_tail(catalog):
    """36 USD/h x (0.1 + 1/3 + 0.05) h = 17.40 USD."""
    asked = plan(
        offer(P5EN, 36.0), offer(G6E, 2.2), data={"dataset_gb": 0.0},
        assumptions={"setup_hours": 0.1, "idle_tail_hours": 0.05, "failed_launch_fraction": 0.0},
    )  # fmt: skip
    case = case_of(asked, catalog)
    assert run_usd(case, case.paced[0], case.campaign().options[0]) == pytest.approx(36 * (0.15 + 1 / 3), rel=0.01)


def test_measuring_an_equally_good_option_decides_and_is_worth_its_cost(catalog):
    case = case_of(NEAR, catalog)
    regret, valued = valued_of(case)
    assert regret > 0
    best = valued[0]
    assert 0 < best.worth_usd <= regret
    assert best.worth_usd > best.usd
    assert best.instead is not None


def test_the_value_of_a_measurement_falls_as_ranges_narrow(catalog):
    """Two machines of the same cost by hand: 0.1 s x 36 USD and 0.36 s x 10 USD."""

    def worth(factor: float) -> float:
        asked = plan(stepped(P5EN, 36.0, 1.0, factor), stepped(G6E, 10.0, 3.6, factor))
        case = case_of(asked, catalog)
        return max(run.worth_usd for run in valued_of(case)[1])

    values = [worth(factor) for factor in (3.0, 2.0, 1.5, 1.2, 1.05)]
    assert values == sorted(values, reverse=True)
    assert values[0] > 10 * values[-1]


def test_the_options_of_a_measurement_are_decided_on_as_in_the_answer(catalog):
    for name in ("gpu_guide_llama3_8b", "rtx3090_cluster", "qlora_llama3_8b"):
        asked = read_plan(examples_dir() / f"{name}.yaml")
        case = case_of(asked, catalog)
        options = case.campaign().options
        assert OptionRule.of(case, options).first == case.decide(options).id


def test_if_time_decides_a_note_says_why_no_measurement_is_proposed(catalog):
    asked = plan(offer(P5EN, 36.0), offer(G6E, 2.2), campaign={"runs": 4, "prefer": "time"})
    document = recommend(asked, catalog, today=TODAY, asked=AskedPlan("plan.yaml"))
    assert document.measurements == ()
    assert "time decides" in document.notes[0]


def test_the_busy_share_is_that_of_own_or_rent(catalog):
    asked = read_plan(examples_dir() / "own_8xh200.yaml")
    (point,) = busy_points(case_of(asked, catalog))
    year = own_or_rent(asked, catalog, site=None, today=TODAY).by_plan
    rent = next(option for option in year.options if option.id == year.cheapest_firm)
    assert point.at == rent.break_even.busy_fraction
    assert point.side == ("above" if point.at > year.busy_fraction.value else "below")


def test_being_surer_costs_more(catalog):
    document = recommend(NEAR, catalog, today=TODAY, asked=AskedPlan("plan.yaml"))
    rows = document.at_confidence
    assert [row.confidence for row in rows] == [0.5, 0.8, 0.95]
    usd = [row.usd for row in rows]
    assert usd[0] < usd[1] < usd[2]
    assert next(row.more_usd for row in rows if row.confidence == document.confidence) == 0


def test_the_simulated_middle_is_the_estimate(catalog):
    asked = plan(offer(P5EN, 36.0), campaign={"runs": 4, "deadline": "2027-06-30", "budget_usd": 1e5})
    document = recommend(asked, catalog, today=TODAY, asked=AskedPlan("plan.yaml"))
    (option,) = answer_plan(asked, catalog, today=TODAY).options
    played = document.simulated
    assert played.hours.p50 == pytest.approx(option.campaign_hours.value, rel=0.02)
    assert played.usd.p50 == pytest.approx(option.campaign_usd.value, rel=0.03)
    assert played.chance_deadline == pytest.approx(option.chance_deadline, abs=0.02)
    assert played.chance_budget == pytest.approx(option.chance_budget, abs=0.02)
    assert played.chance <= min(played.chance_deadline, played.chance_budget)


def test_a_probe_costs_one_node_for_two_minutes_or_the_least_hours_billed(catalog):
    """36 USD/h x (0.1 + 2/60 + 0.05) h = 6.60 USD, on one node of two."""
    asked = plan(
        offer(P5EN, 36.0, nodes=2), offer(G6E, 2.2), data={"dataset_gb": 0.0},
        assumptions={"setup_hours": 0.1, "idle_tail_hours": 0.05, "failed_launch_fraction": 0.0},
    )  # fmt: skip
    case = case_of(asked, catalog)
    option = case.campaign().options[0]
    probed = run_usd(case, case.paced[0], option, hours=PROBE_HOURS, nodes=1)
    assert probed == pytest.approx(36 * (0.15 + 2 / 60), rel=0.01)
    assert run_usd(case, case.paced[0], option) > 2 * probed


def test_a_probe_is_worth_something_and_no_more_than_a_run(catalog):
    """A run leaves 3 % of doubt; a probe leaves most of the doubt, so it never tells more than a run."""
    valued = valued_of(case_of(NEAR, catalog))[1]
    assert valued
    probed = [run for run in valued if run.probe is not None]
    assert {run.option.id for run in probed} == {run.option.id for run in valued if run.worth_usd > run.usd}
    for run in probed:
        assert 0 <= run.probe.usd <= run.usd
        assert run.probe.worth_usd <= run.worth_usd * 1.1 + 1
