"""Deadline and budget at once: by hand from the ranges of an option, and against the simulation of the same option."""

from __future__ import annotations

import math
from datetime import date
from statistics import NormalDist
from typing import Any

import pytest

from planner.decide.outcomes.hours_in_cost import error_beyond_hours, hourly_share
from planner.model.answer.option_estimate import CampaignOption
from planner.model.plan.plan import Plan
from planner.quantity.interval import Interval
from planner.use_cases import plans
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 24)
PHI = NormalDist().cdf
P4D = {"offer": "aws/p4d.24xlarge", "region": "us-east-1", "price": "on_demand", "usd_per_hour": 10.0}
WON = {"code": "KRW", "per_usd": 1000.0, "low": 500.0, "high": 2000.0, "as_of": "2026-11-20", "source": "a bank"}


def plan_of(options: list[dict[str, Any]], *, within: float, hours: float = 10.0, **changes: Any) -> Plan:
    step = {"batch": 10, "seconds": hours, "low_seconds": hours / within, "high_seconds": hours * within}
    campaign = {"start": "2026-12-01", "runs": 2, "at_once": 1} | changes.pop("campaign", {})
    return Plan.model_validate(
        {
            "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
            "work": {"epochs": 1, "samples_per_epoch": 36_000}, "campaign": campaign,
            "options": [option | {"step": step | {"basis": "measured"}} for option in options],
            "assumptions": {
                "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
                "support_fraction": 0.0,
            },
            "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
        } | changes
    )  # fmt: skip


def only(plan: Plan) -> CampaignOption:
    (option,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    return option


def of_hours(hours: float, limit: float, within: float) -> float:
    """Return P(hours x factor <= limit) for a log-normal factor that is within `within` with 90 %."""
    return PHI(1.645 * math.log(limit / hours) / math.log(within))


def test_hourly_costs_err_with_the_hours():
    """20 h and 200 USD within 3: in 24 h with 0.61, under 300 USD with 0.73; both with the smaller, 0.61."""
    option = only(plan_of([P4D], within=3.0, campaign={"deadline": "2026-12-01", "budget_usd": 300.0}))
    assert hourly_share(option) == 1.0
    assert option.chance_deadline == pytest.approx(of_hours(20, 24, 3), abs=1e-3)
    assert option.chance_budget == pytest.approx(of_hours(200, 300, 3), abs=1e-3)
    assert option.chance_both == pytest.approx(option.chance_deadline, abs=1e-6)


def test_a_block_is_paid_whatever_the_hours():
    """The price is apart from the hours: product of the chances; both need that the block holds the work."""
    block = {"offer": "aws/p5.48xlarge", "region": "us-east-1", "price": "capacity_block"}
    likely = only(plan_of([block], within=3.0)).campaign_usd.value
    limits = {"deadline": "2026-12-01", "budget_usd": 1.01 * likely}
    option = only(plan_of([block], within=3.0, campaign=limits))
    assert hourly_share(option) == 0.0
    assert 0.0 < option.chance_budget < 1.0
    held = of_hours(20, option.paid_ahead_hours, 3)
    assert option.chance_both == pytest.approx(option.chance_deadline * option.chance_budget / held, abs=0.015)


def test_each_limit_is_kept_and_both_are_not():
    """A budget in won of a rate within 2: 0.87 in time, 0.86 in the budget; the rate has nothing to do with hours."""
    limits = {"deadline": "2026-12-02", "budget_local": 500_000.0, "confidence": 0.8}
    option = only(plan_of([P4D], within=3.0, hours=12.0, campaign=limits, currency=WON))
    hours, rate = math.log(3) / 1.645, math.log(2) / 1.645
    in_time, in_budget = PHI(math.log(48 / 24) / hours), PHI(math.log(500 / 240) / math.hypot(hours, rate))
    assert option.chance_deadline == pytest.approx(in_time, abs=1e-3)
    assert option.chance_budget == pytest.approx(in_budget, abs=0.01)
    assert min(in_time, in_budget) > 0.8 > option.chance_both
    assert (option.meets_deadline, option.within_budget, option.keeps_both) == (True, True, False)
    assert option.why_not_codes == ("limits_together",)
    percent = round(100 * option.chance_both)
    assert option.why_not == f"keeps deadline and budget together with a chance of {percent} %; you asked for 80 %"


@pytest.mark.parametrize(
    ("confidence", "recommended"), [pytest.param(0.7, True, id="7 in 10"), pytest.param(0.8, False, id="4 in 5")]
)
def test_the_promise_covers_both(confidence, recommended):
    limits = {"deadline": "2026-12-02", "budget_local": 500_000.0, "confidence": confidence}
    plan = plan_of([P4D], within=3.0, hours=12.0, campaign=limits, currency=WON)
    answer = plans.compare(plan, bundled_catalog(), today=TODAY)
    assert (answer.recommended is not None) is recommended
    assert plans.campaign(plan, bundled_catalog(), today=TODAY).feasible is recommended
    if not recommended:
        assert answer.headline[0].startswith("Best chance: AWS p4d, 8x A100 keeps both limits with a chance of 7")
        assert answer.headline[-1].startswith("Each limit alone is kept with that; both together need")


@pytest.mark.parametrize("within", [1.2, 2.0, 4.0])
def test_the_simulation_says_the_same(within):
    limits = {"deadline": "2026-12-02", "budget_local": 450_000.0}
    plan = plan_of([P4D], within=within, hours=18.0, campaign=limits, currency=WON)
    found = plans.campaign(plan, bundled_catalog(), today=TODAY)
    played = (found if found.feasible else found.nearest_feasible).simulated
    assert played.chance == pytest.approx(only(plan).chance_both, abs=0.015)


def test_the_error_of_a_cost_beyond_that_of_its_hours():
    """Half by the hour, 4 times as long: 1/2 + 4/2 = 2.5, a tenth as long: 0.55. Errors of a product add in quadrature.

    ln 5 = 1.609 and ln 2.5 = 0.916 leave sqrt(1.609^2 - 0.916^2) = 1.323; 0.916 and ln(1 / 0.55) = 0.598 leave 0.694.
    """
    option = only(plan_of([P4D], within=3.0))
    kept = option.model_copy(update={"cash_usd": option.campaign_usd.model_copy(update={"value": 400.0})})
    assert hourly_share(kept) == pytest.approx(0.5)
    beside = error_beyond_hours(Interval(100, 40, 500), Interval(1, 0.1, 4), 0.5)
    assert beside == pytest.approx((1.0, math.exp(-0.694), math.exp(1.323)), rel=2e-3)
    assert error_beyond_hours(Interval(100, 25, 400), Interval(1, 0.25, 4), 1.0) == pytest.approx((1.0, 1.0, 1.0))
