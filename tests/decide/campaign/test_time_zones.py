"""Compare and campaign count days of the plan's zone. A run takes 10 h and costs 200 USD."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.model.plan.plan import Plan
from planner.use_cases import plans
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 24)
STEP = {"batch": 10, "seconds": 10.0, "low_seconds": 9.0, "high_seconds": 11.0, "basis": "measured"}
BLOCK = {"window": {"start": "2026-12-02T11:30:00+00:00", "end": "2026-12-04T11:30:00+00:00"}}


def plan_of(given: dict[str, Any], **limits: Any) -> Plan:
    option = {"offer": "aws/p4d.24xlarge", "region": "us-east-1", "usd_per_hour": 20.0, "step": STEP} | given
    content = {
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000}, "options": [option],
        "campaign": {"start": "2026-12-01", "at_once": 1} | limits,
        "assumptions": {
            "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
            "support_fraction": 0.0,
        },
        "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
    }  # fmt: skip
    return Plan.model_validate(content)


@pytest.mark.parametrize(
    ("zone", "waited", "day", "in_time"),
    [
        pytest.param(None, 35.5, 3, True, id="11:30 + 30 h: 17:30 of the next day"),
        pytest.param("Asia/Seoul", 44.5, 4, False, id="20:30 + 30 h: 02:30 of the day after"),
        pytest.param("America/Los_Angeles", 27.5, 3, True, id="03:30 + 30 h: 09:30 of the next day"),
    ],
)
def test_a_window_opens_at_its_hour_of_the_zone(zone: str | None, waited: float, day: int, *, in_time: bool) -> None:
    """Three runs of 10 h in a block that opens on the 2nd at 11:30 UTC, by the 3rd."""
    plan = plan_of(BLOCK, runs=3, deadline="2026-12-03", timezone=zone)
    compared = plans.compare(plan, bundled_catalog(), today=TODAY)
    (option,) = compared.options
    assert option.wait_hours == pytest.approx(waited)
    assert option.ready_on == date(2026, 12, 2)
    assert option.finish == date(2026, 12, day)
    assert (compared.recommended is not None) is in_time
    planned = plans.campaign(plan, bundled_catalog(), today=TODAY)
    assert planned.feasible is in_time
    (alone,) = planned.options
    assert (alone.chance_deadline, alone.finish) == (option.chance_deadline, option.finish)


@pytest.mark.parametrize("zone", [None, "Asia/Seoul", "America/Los_Angeles"])
def test_a_zone_changes_no_price(zone: str | None) -> None:
    """The figures of the plan are those of its row, in every zone."""
    plan = plan_of({}, runs=3, deadline="2026-12-05", timezone=zone)
    (option,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    planned = plans.campaign(plan, bundled_catalog(), today=TODAY)
    assert planned.campaign_usd is not None
    assert planned.campaign_usd.value == pytest.approx(3 * 200)
    assert planned.usd_confident == option.usd_confident
    assert planned.chance_both == option.chance_both
    (without,) = plans.compare(plan_of({}, runs=3, deadline="2026-12-05"), bundled_catalog(), today=TODAY).options
    assert option.usd_confident == without.usd_confident


def test_a_bought_block_has_the_machines_of_the_plan() -> None:
    """Late by itself, it may not run two at once: one machine was paid for."""
    bought = BLOCK | {"price": "capacity_block", "commitment_bought": True}
    plan = plan_of(bought, runs=3, deadline="2026-12-03", timezone="Asia/Seoul")
    limits = plan.campaign.model_copy(update={"at_once": None})
    (option,) = plans.compare(plan.model_copy(update={"campaign": limits}), bundled_catalog(), today=TODAY).options
    assert option.at_once == 1
