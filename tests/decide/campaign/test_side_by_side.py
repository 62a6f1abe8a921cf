"""Several trainings run at once if one after another misses the deadline. Hours by hand: a run takes 10 h."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.decide.advice.launch_words import AskedPlan
from planner.decide.advice.recommend import recommend
from planner.model.answer.documents import ComparisonDocument
from planner.model.plan.plan import Plan
from planner.use_cases import plans
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 24)
P4D = {"offer": "aws/p4d.24xlarge", "region": "us-east-1", "price": "on_demand", "usd_per_hour": 10.0}
LISTED = {"offer": "runpod/8x-h200-sxm"}
OWN = {"site": "own-8xh200"}


def plan_of(options: list[dict[str, Any]], **campaign: Any) -> Plan:
    step = {"step": {"batch": 10, "seconds": 10.0, "low_seconds": 10.0, "high_seconds": 10.0, "basis": "measured"}}
    return Plan.model_validate(
        {
            "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
            "work": {"epochs": 1, "samples_per_epoch": 36_000}, "options": [option | step for option in options],
            "campaign": {"start": "2026-12-01", "runs": 12, "deadline": "2026-12-01"} | campaign,
            "assumptions": {
                "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
                "support_fraction": 0.0,
            },
            "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
        }
    )  # fmt: skip


def compared(options: list[dict[str, Any]], **campaign: Any) -> ComparisonDocument:
    return plans.compare(plan_of(options, **campaign), bundled_catalog(), today=TODAY)


def test_the_deadline_decides_how_many_run_at_once():
    """Two runs fit into 24 h one after another, so six sets of machines do twelve, for the same 12 x 100 USD."""
    answer = compared([P4D])
    (option,) = answer.options
    assert (option.at_once, option.campaign_hours.value) == (6, pytest.approx(20.0))
    assert option.campaign_usd.value == pytest.approx(1200.0)
    assert answer.recommended == option.id
    assert option.display_name == "AWS p4d, 8x A100, 6 at once"
    note = "to keep the deadline, several trainings run at once: "
    assert f"{note}AWS p4d, 8x A100, 6 at once (in time with 100 %)" in answer.notes


@pytest.mark.parametrize(
    ("change", "at_once"),
    [
        pytest.param({"deadline": "2026-12-05"}, 1, id="120 h in five days: one after another"),
        pytest.param({"deadline": "2026-12-04"}, 2, id="120 h in four days: two at once"),
        pytest.param({"at_once": 3}, 3, id="the plan says three, which miss it"),
        pytest.param({"deadline": "2026-11-20", "start": "2026-11-10"}, 1, id="a day that has passed"),
    ],
)
def test_several_run_at_once_only_if_the_deadline_is_missed_otherwise(change, at_once):
    (option,) = compared([P4D], **change).options
    assert option.at_once == at_once


@pytest.mark.parametrize(
    ("change", "options", "name"),
    [
        pytest.param({"at_once": 3}, [P4D], "AWS p4d, 8x A100, 3 at once", id="the plan says it"),
        pytest.param({"at_once": 3, "runs": 2}, [P4D], "AWS p4d, 8x A100, 2 at once", id="only two trainings"),
        pytest.param({"runs": 1}, [P4D | {"quota": "4 machines"}], "AWS p4d, 8x A100", id="a quota for one training"),
        pytest.param({"at_once": 3}, [OWN], "Our HGX H200, 8x H200", id="the site holds one"),
    ],
)
def test_the_name_says_how_many_run_at_once(change, options, name):
    """Time and cost are those of all these machines, so every screen names their number."""
    (option,) = compared(options, deadline="2026-12-30", **change).options
    assert option.display_name == name


def test_a_quota_a_site_and_an_unknown_supply_limit_how_many_run_at_once():
    """At most eight machines are rented if their supply is unknown: 16 runs of 10 h take 20 h there, and 17 take 30."""
    options = [P4D | {"quota": "4 machines"}, OWN, LISTED]
    at_once = {option.id.split(":")[0]: option.at_once for option in compared(options, runs=16).options}
    assert at_once == {"aws/p4d.24xlarge": 4, "own-8xh200": 1, "runpod/8x-h200-sxm": 8}
    assert [option.at_once for option in compared([LISTED], runs=17).options] == [1]


def test_a_term_is_not_bought_twice_if_the_budget_forbids_it():
    """A year's savings plan for two sets costs twice as much. Over the budget, it makes no limit surer."""
    saved = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "savings_1y"}
    (option,) = compared([saved], budget_usd=500_000).options
    assert option.at_once == 1


@pytest.mark.parametrize(
    ("price", "runs", "at_once"),
    [
        pytest.param({}, 12, 4, id="by the hour: four at once cost the same"),
        pytest.param({"price": "savings_1y"}, 12, 1, id="120 h of 8,760: one term"),
        pytest.param({"price": "savings_1y"}, 1000, 1, id="10,000 h: 1,240 on demand cost less than a term"),
        pytest.param({"price": "savings_1y"}, 1700, 2, id="17,000 h: two terms, one after another or at once"),
        pytest.param({"price": "savings_1y", "quota": "1 machines"}, 1000, 1, id="the quota holds one"),
        pytest.param(
            {"usd_per_hour": 10.0, "minimum_hours": 720.0}, 100, 1, id="1,000 h beyond a minimum of 720: by the hour"
        ),
    ],
)
def test_no_more_terms_are_bought_than_the_work_asks_for(price, runs, at_once):
    """A term is paid for each set of machines, used or not; the quota allows four."""
    saved = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "quota": "4 machines"} | price
    (option,) = compared([saved], runs=runs, deadline=None).options
    assert option.at_once == at_once


@pytest.mark.parametrize(("runs", "allowed"), [(800, True), (900, False)], ids=["8,000 h", "9,000 h"])
def test_a_paid_term_holds_no_more_than_its_hours(runs, allowed):
    """A year that is paid already has 8,760 h (8,766 in the mean); what comes after it is not free."""
    paid = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "savings_1y", "commitment_bought": True}
    (option,) = compared([paid], runs=runs, deadline=None).options
    assert (option.not_allowed is None) is allowed
    assert allowed or option.not_allowed.startswith("its paid term holds 8,7")


def test_planner_campaign_runs_as_many_at_once():
    plan = plan_of([P4D])
    found = plans.campaign(plan, bundled_catalog(), today=TODAY)
    assert found.feasible
    assert found.placements[0].nodes == 6
    assert found.campaign_hours.value == pytest.approx(20.0)
    assert found.usd_confident == plans.compare(plan, bundled_catalog(), today=TODAY).options[0].usd_confident


def test_an_option_that_misses_only_the_budget_runs_one_after_another():
    """Two trainings of a few hours end in a day, nine days early: two at once pay for the same hours."""
    plan = Plan.model_validate(
        {
            "schema_version": 1, "name": "test", "workload": {"ref": "resnet50"}, "training": {"precision": "fp16"},
            "work": {"epochs": 90, "samples_per_epoch": 1_281_167}, "options": [{"offer": "lambda/gpu_8x_v100"}],
            "campaign": {"runs": 2, "deadline": "2026-12-06", "budget_usd": 100},
        }
    )  # fmt: skip
    (option,) = plans.compare(plan, bundled_catalog(), today=date(2026, 11, 27)).options
    assert (option.meets_deadline, option.within_budget, option.at_once) == (True, False, 1)


def test_twice_as_many_at_once_are_named_if_they_end_sooner():
    """Ten runs of 10 h: two at once cost the same 1,000 USD and end after 50 h, with 12-03, instead of 12-05."""
    answer = compared([P4D], runs=10, deadline=None)
    assert answer.options[0].at_once == 1
    assert answer.notes[0] == (
        "sooner for about the same cost: AWS p4d, 8x A100, 2 at once, done by 2026-12-03, at most 1,000 USD"
    )


@pytest.mark.parametrize(
    ("option", "campaign"),
    [
        pytest.param(P4D, {"at_once": 1}, id="the plan states the number"),
        pytest.param(P4D | {"quota": "1 machines"}, {}, id="the quota holds one"),
        pytest.param(P4D, {"runs": 1}, id="one training"),
        pytest.param(OWN, {}, id="owned"),
        pytest.param(
            {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "savings_1y"},
            {},
            id="two terms cost twice as much",
        ),
    ],
)
def test_twice_as_many_at_once_are_not_named(option, campaign):
    answer = compared([option], **{"runs": 10, "deadline": None} | campaign)
    assert not any("sooner" in note for note in answer.notes)


def test_all_machines_of_an_own_site_work():
    """The site has two servers: ten runs of 10 h end after 50 h, for the same electricity."""
    (option,) = compared([{"site": "rtx3090-x10"}], runs=10, deadline=None).options
    assert (option.at_once, option.campaign_hours.value) == (2, pytest.approx(50.0))


@pytest.mark.parametrize(
    ("campaign", "at_once", "note"),
    [
        pytest.param({}, 1, None, id="cost alone: one after another"),
        pytest.param({"prefer": "time"}, 3, "to end sooner, several trainings run at once", id="time: all at once"),
        pytest.param(
            {"waiting_usd_per_hour": 1.0}, 3, "to cost less, several trainings run at once",
            id="300 USD and 10 h of waiting, instead of 30",
        ),
        pytest.param(
            {"waiting_usd_per_hour": 1.0, "at_once": 1}, 1, None, id="the plan states the number",
        ),
    ],
)  # fmt: skip
def test_time_that_counts_asks_for_more_at_once(campaign, at_once, note):
    answer = compared([P4D], **{"runs": 3, "deadline": None} | campaign)
    assert answer.options[0].at_once == at_once
    assert note is None or any(said.startswith(note) for said in answer.notes)


def test_recommend_and_campaign_name_twice_as_many_too():
    plan = plan_of([P4D], runs=10, deadline=None)
    said = compared([P4D], runs=10, deadline=None).notes[0]
    assert recommend(plan, bundled_catalog(), today=TODAY, asked=AskedPlan("plan.yaml")).notes[0] == said
    assert plans.campaign(plan, bundled_catalog(), today=TODAY).notes[0] == said


def test_all_run_at_once_if_only_that_saves_a_round():
    """Nine runs of 10 h: five to eight at once take two rounds, nine take one."""
    (option,) = compared([P4D], runs=9, deadline=None, prefer="time").options
    assert option.at_once == 9
