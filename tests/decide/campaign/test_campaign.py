"""Many trainings: as many at once as there are machines, until the deadline."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.decide.campaign.budget import budget_of
from planner.decide.campaign.campaign import campaign_option
from planner.decide.campaign.chances import hours_to, with_chances
from planner.decide.options.estimate_plan import estimate_options
from planner.model.answer.option_estimate import CampaignOption
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.plan import Plan
from tests.bundled import bundled_catalog

TODAY = date(2026, 12, 1)


def campaign(option: dict[str, Any], **limits: Any) -> CampaignOption:
    """One training of this plan takes exactly 10 hours and, rented at 24 USD, costs 240 USD."""
    plan = Plan.model_validate(
        {
            "schema_version": 1,
            "name": "ten hours",
            "workload": {"ref": "gpt-305m"},
            "work": {"epochs": 1, "samples_per_epoch": 36_000},
            "options": [option | {"step": {"batch": 10, "seconds": 10.0, "basis": "measured"}}],
            "campaign": limits,
            "assumptions": {
                "setup_hours": 0.0,
                "idle_tail_hours": 0.0,
                "failed_launch_fraction": 0.0,
                "goodput_fraction": 1.0,
            },
            "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
        }
    )
    catalog = bundled_catalog()
    (estimate,) = estimate_options(plan, catalog).options
    alone = campaign_option(estimate, plan.campaign, catalog, today=TODAY)
    return with_chances(alone, plan.campaign, budget=budget_of(plan.campaign), today=TODAY)


RENTED = {"offer": "aws/p4d.24xlarge", "usd_per_hour": 24.0}


@pytest.mark.parametrize(
    ("runs", "at_once", "hours", "usd"),
    [
        pytest.param(1, 1, 10, 240, id="one"),
        pytest.param(50, 1, 500, 12_000, id="fifty one after another"),
        pytest.param(50, 5, 100, 12_000, id="five at once: a fifth of the time, the same money"),
        pytest.param(7, 3, 30, 1_680, id="seven by three: three waves"),
    ],
)
def test_waves(runs: int, at_once: int, hours: float, usd: float) -> None:
    got = campaign(RENTED, runs=runs, at_once=at_once)
    assert got.campaign_hours is not None
    assert got.campaign_usd is not None
    assert got.campaign_hours.value == pytest.approx(hours)
    assert got.campaign_usd.value == pytest.approx(usd)


def test_one_station_runs_one_training_at_a_time_and_says_so() -> None:
    got = campaign({"site": "dgx-station-v100"}, runs=4, at_once=4)
    assert got.at_once == 1
    assert got.campaign_hours is not None
    assert got.campaign_hours.value == pytest.approx(40)
    assert any("4 at once are asked for" in note for note in got.notes)


def test_two_servers_run_two_at_once() -> None:
    assert campaign({"site": "rtx3090-x10"}, runs=4, at_once=4).at_once == 2


@pytest.mark.parametrize(
    ("runs", "meets"),
    [pytest.param(7, True, id="70 h of 72"), pytest.param(8, False, id="80 h of 72")],
)
def test_the_deadline_is_the_end_of_its_day(runs: int, meets: bool) -> None:
    got = campaign(RENTED, runs=runs, start=date(2026, 12, 1), deadline=date(2026, 12, 3))
    assert got.meets_deadline is meets


def test_a_campaign_of_thousands_of_years_still_has_an_answer() -> None:
    got = campaign(RENTED, runs=100_000_000)
    assert got.campaign_hours is not None
    assert got.campaign_hours.value == pytest.approx(1e9)
    assert got.finish == date.max


def test_a_passed_deadline_leaves_no_hours() -> None:
    assert hours_to(CampaignLimits(deadline=date(2026, 11, 1)), today=TODAY) == 0
    assert campaign(RENTED, deadline=date(2026, 11, 1)).meets_deadline is False


def test_the_budget_counts_all_trainings() -> None:
    """4 x 10 h x 24 USD = 960, within 5 % as the step; 4 in 5 sure: 960 x 1.05^(0.8416 / 1.645) = 984.3."""
    assert campaign(RENTED, runs=4, budget_usd=985.0).within_budget is True
    assert campaign(RENTED, runs=4, budget_usd=983.0).within_budget is False
    assert campaign(RENTED, runs=3, budget_usd=983.0).within_budget is True
