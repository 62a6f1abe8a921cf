"""A plan on one option and its row in `compare` are one campaign: they show one bill."""

from __future__ import annotations

from datetime import date

import pytest

from planner.model.plan.plan import Plan
from planner.use_cases import plans
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 24)


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_plan_on_several_sets_of_machines_has_the_bill_of_its_row(at_once: int) -> None:
    """Eight runs of 10 h at 10 USD an hour are 800 USD. Checkpoints of 5 TB are kept beside them."""
    plan = Plan.model_validate(
        {
            "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
            "work": {"epochs": 1, "samples_per_epoch": 36_000},
            "options": [
                {
                    "offer": "aws/p4d.24xlarge", "region": "us-east-1", "price": "on_demand", "usd_per_hour": 10.0,
                    "step": {
                        "batch": 10, "seconds": 10.0, "low_seconds": 10.0, "high_seconds": 10.0, "basis": "measured"
                    },
                }
            ],
            "campaign": {"start": "2026-12-01", "runs": 8, "at_once": at_once},
            "assumptions": {
                "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
                "support_fraction": 0.0,
            },
            "data": {"dataset_gb": 100.0, "checkpoint_gb": 5000.0, "egress_gb": 0.0},
        }
    )  # fmt: skip
    document = plans.campaign(plan, bundled_catalog(), today=TODAY)
    [row] = document.options
    assert row.campaign_usd is not None
    assert row.campaign_usd.value > 800
    assert document.campaign_usd == row.campaign_usd
    assert [note for note in document.notes if "differ" in note] == []
