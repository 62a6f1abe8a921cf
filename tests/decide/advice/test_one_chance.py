"""The simulation below a headline agrees with its row on blocks, terms, waits and turns of other people."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.decide.advice.launch_words import AskedPlan
from planner.decide.advice.recommend import recommend
from planner.decide.campaign.alone import each_alone
from planner.decide.placement.plan_campaign import planned_campaign
from planner.decide.recommend.answer_plan import campaign_document
from planner.decide.recommend.mix import preferred
from planner.model.plan.plan import Plan

TODAY = date(2026, 11, 27)
STEP = {"batch": 10, "seconds": 10.0, "low_seconds": 10 / 1.5, "high_seconds": 15.0, "basis": "measured"}
"""A run takes 10 h, with a standard deviation of its logarithm of 0.2465."""
OFFER = {"offer": "aws/p4d.24xlarge", "region": "us-east-1", "usd_per_hour": 20.0, "step": STEP}
BLOCK = OFFER | {"price": "capacity_block"}
EVENING = {"start": "2026-12-01T12:00:00+00:00", "end": "2026-12-01T20:00:00+00:00", "nodes": 1}


@pytest.mark.parametrize(
    ("option", "limits", "chance"),
    [
        pytest.param(BLOCK, {"runs": 2, "budget_usd": 600}, 0.744, id="two in a block: Phi(ln(23.5 / 20) / 0.2465)"),
        pytest.param(BLOCK, {"runs": 5, "at_once": 2, "budget_usd": 1600}, 0.744, id="20 h in the smaller of two"),
        pytest.param(
            OFFER | {"ready_on": "2026-11-29"}, {"runs": 2, "deadline": "2026-11-29"}, 0.770,
            id="24 h are left of the day: Phi(ln(24 / 20) / 0.2465)",
        ),
        pytest.param(
            OFFER | {"taken": [EVENING]},
            {"runs": 2, "at_once": 1, "start": "2026-12-01", "deadline": "2026-12-02"}, 0.914,
            id="both after the turn: Phi(ln(14 / 10) / 0.2465)",
        ),
    ],
)  # fmt: skip
def test_row_simulation_and_campaign_say_one_chance(catalog, option: dict[str, Any], limits: dict[str, Any], chance):
    plan = Plan.model_validate({
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000}, "options": [option],
        "campaign": {"confidence": 0.7} | limits,
        "assumptions": {
            "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
            "support_fraction": 0.0,
        },
        "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
    })  # fmt: skip
    alone = each_alone(plan, catalog, today=TODAY)
    advice = recommend(plan, catalog, today=TODAY, asked=AskedPlan("plan.yaml"))
    document = campaign_document(plan, alone)
    placed = planned_campaign(document, alone, catalog, today=TODAY, preferred=preferred(alone, today=TODAY))
    assert advice.simulated is not None
    found = (alone.options[0].chance_both, advice.simulated.chance, placed.chance_both)
    assert found == pytest.approx((chance, chance, chance), abs=0.015)
