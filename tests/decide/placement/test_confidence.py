"""Chances of a plan, and plans that are tightened until their chances suffice. Figures by hand from stated ranges."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.model.answer.documents import CampaignDocument
from planner.model.plan.plan import Plan
from planner.use_cases import plans
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 24)
P4D = {"offer": "aws/p4d.24xlarge", "region": "us-east-1", "price": "on_demand", "usd_per_hour": 10.0}
P5EN = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "on_demand", "usd_per_hour": 60.0}


def option(given: dict[str, Any], hours: float, *, within: float = 1.0, **update: Any) -> dict[str, Any]:
    """Return an option whose run takes these hours, 90 % within a factor both ways."""
    ends = {"low_seconds": hours / within, "high_seconds": hours * within}
    return given | {"step": {"batch": 10, "seconds": hours, "basis": "measured"} | ends} | update


def campaign(options: list[dict[str, Any]], objective: str = "cost", **limits: Any) -> CampaignDocument:
    plan = {
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000}, "options": options,
        "campaign": {"start": "2026-12-01", "runs": 2} | limits,
        "assumptions": {
            "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
            "support_fraction": 0.0,
        },
        "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
    }  # fmt: skip
    return plans.campaign(Plan.model_validate(plan), bundled_catalog(), today=TODAY, objective=objective)


def runs_of(document: CampaignDocument) -> dict[str, int]:
    return {placed.option.split("/")[1].split(".")[0]: placed.runs for placed in document.placements}


@pytest.mark.parametrize(
    ("confidence", "usd"),
    [
        pytest.param(0.5, 2 * 10 * 10, id="two runs of 10 h end at 20, in 24 h with 0.61"),
        pytest.param(0.7, 10 * 10 + 80 * 2, id="one of 10 h within a factor of 3: in 24 h with 0.90"),
        pytest.param(0.95, 2 * 80 * 2, id="the sure machine does both"),
    ],
)
def test_a_plan_is_tightened_until_it_holds(confidence, usd):
    """P(20 h, a factor of 3 both ways, within 24 h) = Phi(1.645 ln 1.2 / ln 3) = 0.61; of 10 h 0.905."""
    options = [option(P4D, 10.0, within=3.0), option(P5EN, 2.0, usd_per_hour=80.0)]
    found = campaign(options, deadline="2026-12-01", confidence=confidence, at_once=1)
    assert found.campaign_usd is not None
    assert found.campaign_usd.value == pytest.approx(usd)
    assert found.chance_deadline is not None
    assert found.chance_deadline >= confidence


def test_the_best_plan_costs_least_at_the_confidence():
    """One run each likely costs 100 + 120 USD, at most 100 x 3^(0.524/1.645) + 120 = 262; both on p5en cost 240."""
    options = [option(P4D, 10.0, within=3.0), option(P5EN, 2.0)]
    found = campaign(options, deadline="2026-12-01", confidence=0.7, at_once=1)
    assert runs_of(found) == {"p5en": 2}
    assert found.usd_confident == pytest.approx(240.0)
    assert found.optimality_gap_pct is None


def test_runs_are_placed_side_by_side_if_one_after_another_is_late():
    """Two runs of 10 h at once end at 10, in 24 h with 0.905: at most 200 x 3^(1.036/1.645) = 400 USD, a mix 440."""
    options = [option(P4D, 10.0, within=3.0), option(P5EN, 2.0, usd_per_hour=120.0)]
    found = campaign(options, deadline="2026-12-01", confidence=0.85)
    assert runs_of(found) == {"p4d": 2}
    assert found.campaign_usd is not None
    assert found.campaign_usd.value == pytest.approx(200.0)
    assert found.chance_deadline == pytest.approx(0.905, abs=0.015)


def test_the_chance_of_a_plan_is_that_of_its_range():
    found = campaign([option(P4D, 10.0, within=3.0)], deadline="2026-12-01", confidence=0.5)
    assert found.chance_deadline == pytest.approx(0.610, abs=0.015)
    assert found.simulated is not None
    assert found.simulated.hours.p50 == pytest.approx(20.0, rel=0.03)
    assert found.simulated.hours.p90 == pytest.approx(20 * 3 ** (1.2816 / 1.645), rel=0.05)
    assert found.simulated.usd.p90 == pytest.approx(200 * 3 ** (1.2816 / 1.645), rel=0.05)
    assert [str(day) for day in found.simulated.finish] == ["2026-12-01", "2026-12-01", "2026-12-02"]


def test_a_budget_is_kept_with_the_confidence():
    """Doubtful: 2 x 100 USD within a factor of 3, under 300 with 0.73, under 237 with 0.6; the sure one costs 240."""
    doubtful, sure = option(P4D, 10.0, within=3.0), option(P5EN, 2.0)
    assert runs_of(campaign([doubtful, sure], budget_usd=300.0, confidence=0.6)) == {"p4d": 2}
    tight = campaign([doubtful, sure], budget_usd=300.0, confidence=0.95)
    assert runs_of(tight) == {"p5en": 2}
    assert tight.chance_budget == 1.0


def test_no_plan_is_sure_enough():
    found = campaign([option(P4D, 10.0, within=3.0)], deadline="2026-12-01", confidence=0.9, at_once=1)
    assert (found.feasible, found.binding_limits) == (False, ("confidence",))
    assert found.nearest_feasible is not None
    assert found.nearest_feasible.chance_deadline == pytest.approx(0.61, abs=0.015)


def test_no_budget_is_sure_enough():
    found = campaign([option(P4D, 10.0, within=3.0)], budget_usd=210.0, confidence=0.9)
    assert (found.feasible, found.binding_limits) == (False, ("confidence",))


@pytest.mark.parametrize(("confidence", "feasible"), [(0.6, True), (0.9, False)])
def test_a_block_that_ends_before_its_runs_do_is_a_chance_without_a_deadline(confidence, feasible):
    """Two runs of 10 h in a block of 24.5 h, which loses its machines half an hour before its end: 0.61."""
    window = {"start": "2026-12-01T00:00:00+00:00", "end": "2026-12-02T00:30:00+00:00"}
    found = campaign([option(P4D, 10.0, within=3.0, window=window)], confidence=confidence)
    assert found.feasible is feasible
    plan = found if found.feasible else found.nearest_feasible
    assert plan is not None
    assert plan.chance_windows == pytest.approx(0.61, abs=0.015)
    assert plan.chance_deadline is None


def test_runs_between_turns_of_others_have_their_own_days():
    """Two nodes; one is taken from hour 16 to 30. In 42 h: 36 h of runs on the first, 12 h after the turn."""
    taken = [{"start": "2026-12-01T16:00:00+00:00", "end": "2026-12-02T06:00:00+00:00", "nodes": 1}]
    found = campaign([option(P4D, 12.0, quota=2, taken=taken)], "time", runs=5)
    assert found.campaign_hours is not None
    assert found.campaign_hours.value == pytest.approx(42.0)
    assert found.placements[0].end.startswith("2026-12-02T18:00")


def test_one_run_at_a_time_takes_the_machine_that_is_not_taken():
    """Two machines; one is taken from hour 19 to 47: a run of 24 h uses the other, in the row as in the plan."""
    taken = [{"start": "2026-12-01T19:00:00+00:00", "end": "2026-12-02T23:00:00+00:00", "nodes": 1}]
    found = campaign([option(P4D, 24.0, quota=2, taken=taken)], runs=1, at_once=1, deadline="2026-12-02")
    assert found.campaign_hours is not None
    assert found.campaign_hours.value == pytest.approx(24.0)
    assert found.options[0].chance_deadline == pytest.approx(1.0)


def test_a_wait_that_is_queued_for_is_charged_and_drawn():
    """One job ahead, 12 h on average: a run of 10 h ends at 22; in 24 h with 1 - e^(-14/12) = 0.69."""
    queued = option(P4D, 10.0, queue={"jobs": 1, "job_hours": 12.0})
    found = campaign([queued], runs=1, deadline="2026-12-01", confidence=0.6)
    assert found.campaign_hours is not None
    assert found.campaign_hours.value == pytest.approx(22.0)
    assert found.chance_deadline == pytest.approx(0.689, abs=0.015)
    assert found.options[0].wait_hours == pytest.approx(12.0)
    wait = found.placements[0].earliest_start_hours
    assert wait is not None
    assert (wait.value, wait.low, wait.high) == pytest.approx((12.0, 0.616, 35.9), rel=0.05)


def test_machines_that_were_available_every_third_day():
    """p = 1/3: 48 h on average, none with 1/3, at most one day with 5/9."""
    seen = option(P4D, 10.0, tries={"had": 1, "of": 3, "every_hours": 24.0})
    found = campaign([seen], runs=1, deadline="2026-12-02", confidence=0.5)
    assert found.chance_deadline == pytest.approx(5 / 9, abs=0.015)
    assert campaign([seen], runs=1, deadline="2026-12-02", confidence=0.6).binding_limits == ("deadline",)
    late = campaign([seen], runs=1, deadline="2026-12-03", confidence=0.5)
    assert late.chance_deadline == pytest.approx(1 - (2 / 3) ** 3, abs=0.015)


def test_clocks_that_go_back_lengthen_the_deadline_of_a_simulated_plan():
    """2027-10-31 in Berlin has 25 h: a run of 24.5 h always ends in it."""
    plan = campaign([option(P4D, 24.5)], runs=1, start="2027-10-31", deadline="2027-10-31", timezone="Europe/Berlin")
    assert plan.chance_deadline == 1.0
    assert plan.simulated is not None
    assert {str(day) for day in plan.simulated.finish} == {"2027-10-31"}


def test_a_million_runs_are_simulated():
    found = campaign([option(P4D, 10.0, within=1.1)], runs=10**6)
    assert found.simulated is not None
    assert found.simulated.hours.p50 == pytest.approx(1e7, rel=0.01)


def test_every_option_has_its_earliest_start_and_its_quota():
    """A server comes after 3 months (0.8 to 9) of 30.4 days; the campaign begins 7 days after the order."""
    options = [{"site": "dgx-station-v100"}, {"site": "h200-x1", "hold": "buy"}, P4D | {"quota": 2}]
    found = campaign([option(given, 10.0) for given in options]).options
    own, bought, rented = (row.earliest_start_hours for row in found)
    assert own is not None
    assert (own.value, own.high) == (0.0, 0.0)
    assert bought is not None
    assert bought.value == pytest.approx(3 * 30.4375 * 24 - 7 * 24, abs=24)
    assert bought.low < bought.value < bought.high
    assert rented is None, "unknown, which is not 0"
    assert [row.quota for row in found] == [None, None, 2]


def test_a_machine_ordered_long_before_arrives_in_time_unless_it_is_the_slowest():
    """The longest lead time is nine months, and the order is two years before: no wait, nor one in its range."""
    late = campaign([option({"site": "h200-x1", "hold": "buy"}, 10.0)], start="2028-12-01").options[0]
    assert late.earliest_start_hours is not None
    assert (late.earliest_start_hours.value, late.earliest_start_hours.high) == (0.0, 0.0)


def test_a_mix_does_not_end_before_its_surest_option():
    """One run of exactly 10 h beside one of 12 h within a factor of 3: 90 % of the last ends lie within 10 and 36 h."""
    found = campaign([option(P4D, 12.0, within=3.0, quota=1), option(P5EN, 10.0, quota=1)], "time")
    assert len(found.placements) == 2
    assert found.campaign_hours is not None
    hours = found.campaign_hours
    assert (hours.low, hours.value, hours.high) == pytest.approx((10.0, 12.0, 36.0), rel=0.02)


def test_a_wait_does_not_shrink_with_the_hours_of_its_runs():
    """After 100 h, two runs of 10 h within a factor of 2 end at 120: within 110 and 140."""
    found = campaign([option(P4D, 10.0, within=2.0, wait_hours=100.0)])
    assert found.campaign_hours is not None
    hours = found.campaign_hours
    assert (hours.low, hours.value, hours.high) == pytest.approx((110.0, 120.0, 140.0), rel=0.01)
