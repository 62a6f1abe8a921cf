"""Changes that alter a mix, and the value of measurements for it. Figures by hand."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.decide.advice.case import Case
from planner.decide.advice.launch_words import AskedPlan
from planner.decide.advice.measuring import worth_measuring
from planner.decide.advice.mix_inputs import deadline_input, price_input
from planner.decide.advice.mix_rule import MixRule
from planner.decide.advice.mixed import MixedCase
from planner.decide.advice.recommend import recommend
from planner.decide.placement.instance import Objective
from planner.decide.placement.milp import SolverStoppedError
from planner.decide.placement.question import question_of
from planner.decide.recommend.mix import best_mix
from planner.model.plan.plan import Plan
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 24)
OWN = {"site": "dgx-station-v100", "power_kw": 1.0}
P5EN = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "on_demand", "usd_per_hour": 60.0}
P4D = {"offer": "aws/p4d.24xlarge", "region": "us-east-1", "price": "on_demand", "usd_per_hour": 35.0}


def option(given: dict[str, Any], hours: float, *, within: float = 1.0, basis: str = "measured") -> dict[str, Any]:
    ends = {"low_seconds": hours / within, "high_seconds": hours * within}
    return given | {"step": {"batch": 10, "seconds": hours, "basis": basis} | ends}


def plan(*options: dict[str, Any], **limits: Any) -> Plan:
    return Plan.model_validate({
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000}, "options": list(options),
        "campaign": {"start": "2026-12-01", "runs": 50, "deadline": "2026-12-13"} | limits,
        "assumptions": {
            "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
            "support_fraction": 0.0, "electricity_usd_per_kwh": 0.1, "pue": 1.0,
        },
        "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
    })  # fmt: skip


def mixed_case(asked: Plan) -> MixedCase:
    case = Case.of(asked, bundled_catalog(), today=TODAY)
    alone = case.alone()
    chosen = best_mix(alone, case.catalog, today=TODAY)
    assert chosen is not None
    return MixedCase(case, question_of(alone, case.catalog, today=TODAY), chosen, Objective.COST)


def worth(within: float, basis: str = "modelled") -> float:
    """Return the value of measuring p4d, whose run of 4 h for 140 USD is doubtful.

    The own machine does 26 of 50 runs in time; p5en costs 144 USD a run for sure.
    """
    mixed = mixed_case(plan(option(OWN, 12.0), option(P4D, 4.0, within=within, basis=basis), option(P5EN, 2.4)))
    rule = MixRule.of(mixed)
    assert rule is not None
    runs = worth_measuring(rule, mixed.case)[1]
    return next((run.worth_usd for run in runs if run.option.id.startswith("aws/p4d.")), 0.0)


def test_a_measurement_of_a_narrower_range_is_worth_less():
    assert worth(2.0) > worth(1.3) > worth(1.05) >= 0.0


def test_a_measured_option_is_not_measured_again():
    assert worth(2.0, "measured") == 0.0


def test_a_measurement_is_worth_at_most_the_cost_that_it_can_save():
    """If p4d is fast, it does all 24 runs: at most 24 x 144 USD are saved."""
    assert 0 < worth(2.0) < 24 * 144


def test_a_run_that_is_worth_its_cost_is_proposed():
    asked = plan(option(OWN, 12.0), option(P4D, 4.0, within=2.0, basis="modelled"), option(P5EN, 2.4))
    found = recommend(asked, bundled_catalog(), today=TODAY, asked=AskedPlan("plan.yaml"))
    assert found.headline[0].startswith("Mix")
    first = found.measurements[0]
    assert first.option == "aws/p4d.24xlarge:us-east-1:on_demand"
    assert first.worth_usd > first.usd
    assert str(first.command).startswith("planner launch plan.yaml --on aws/p4d.24xlarge")
    assert "how the runs are divided" in first.sentence


def test_if_time_decides_no_run_is_proposed():
    asked = plan(option(OWN, 12.0), option(P5EN, 2.0, within=1.5, basis="modelled"), prefer="time", runs=8, at_once=1)
    found = recommend(asked, bundled_catalog(), today=TODAY, asked=AskedPlan("plan.yaml"))
    assert found.headline[0].startswith("Mix")
    assert found.measurements == ()
    assert "time decides here" in found.notes[-1]


def test_swings_are_the_plan_solved_again_at_both_ends():
    """24 runs of 2 h on p5en at 60 USD, and 26 of 1.2 USD; the own machine 5 % slower does 24.7 of them."""
    found = mixed_case(plan(option(OWN, 12.0, within=1.05), option(P5EN, 2.0), confidence=0.5)).swings()
    (swing,) = [swing for swing in found if swing.input == "speed" and swing.option == "dgx-station-v100"]
    assert swing.low == pytest.approx(swing.value / 1.05)
    assert swing.usd_at_high == pytest.approx(23 * 120 + 27 * 1.2 / 1.05, abs=1.0)
    assert swing.usd_at_low == pytest.approx(26 * 120 + 24 * 1.2 * 1.05, abs=1.0)
    assert swing.decision_at_low == "dgx-station-v100 + aws/p5en.48xlarge:us-east-1:on_demand"


def test_an_earlier_deadline_may_leave_no_plan():
    """50 runs; p5en alone needs 100 h: with a deadline 7 days earlier 6 days are left, with 14 none."""
    points = mixed_case(plan(option(OWN, 12.0), option(P5EN, 5.0))).turning_points()
    deadline = {point.side: point for point in points if point.input == "deadline"}
    assert "no plan keeps the limits" in deadline["below"].sentence
    assert deadline["below"].then is None


def test_a_program_beyond_the_effort_is_not_followed(monkeypatch):
    mixed = mixed_case(plan(option(OWN, 12.0), option(P5EN, 2.0)))

    def stopped(*_: object, **__: object) -> None:
        raise SolverStoppedError

    monkeypatch.setattr("planner.decide.advice.mixed.solve", stopped)
    assert mixed.turning_points() == []
    assert {swing.usd_at_low for swing in mixed.swings()} == {None}
    assert MixRule.of(mixed) is None


def test_a_sentence_says_which_option_takes_the_place_of_another():
    """Own: 26 runs, p5en the others for 120 USD. 14 % dearer, p4d at 136 takes its place; the station stays."""
    mixed = mixed_case(plan(option(OWN, 12.0), option(P5EN, 2.0), option(P4D | {"usd_per_hour": 34.0}, 4.0)))
    sentences = [point.sentence for point in mixed.turning_points()]
    assert any(text.endswith("AWS p4d, 8x A100 takes its place.") for text in sentences)
    assert all(len(text.split()) <= 24 for text in sentences)


def test_names_of_several_that_join():
    mixed = mixed_case(plan(option(OWN, 12.0), option(P5EN, 2.0), option(P4D, 4.0)))
    moved = deadline_input(mixed.chosen.asked)
    sentence = mixed.sentence(moved, moved.today - 2, frozenset({1, 2}), frozenset({0, 1}))
    assert sentence == "With a deadline 2 days earlier, AWS p4d, 8x A100 joins and DGX Station, 4x V100 drops out."
    both = mixed.sentence(moved, moved.today + 1, frozenset({1, 2, 0}), frozenset({0}))
    assert both == "With a deadline 1 day later, AWS p5en, 8x H200 and AWS p4d, 8x A100 join."
    price = price_input(mixed.chosen.asked, 1, "AWS p5en, 8x H200", 60.0, "USD/h")
    assert mixed.sentence(price, 70.0, frozenset({0}) | {2}, frozenset({0, 1, 2})).endswith("it drops out.")
    assert mixed.sentence(moved, moved.today - 1, frozenset({2, 1}), frozenset({0, 1, 2})).endswith("drops out.")
