"""Own or rent counts the work of unlike runs, and not their number, as every command does."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

HALVING = {"successive_halving": {"trials": 27, "factor": 3, "first_fraction": 0.1}}
GROUPS = {
    "groups": [
        {"name": "short", "runs": 6},
        {"name": "long", "runs": 2, "work": {"epochs": 3, "samples_per_epoch": 36000}},
    ]
}


def step(hours: float) -> dict[str, Any]:
    return {"batch": 10, "seconds": hours, "low_seconds": hours, "high_seconds": hours, "basis": "measured"}


@pytest.mark.parametrize(
    ("campaign", "trainings"),
    [
        pytest.param({"runs": 5}, 5.0, id="equal runs"),
        pytest.param(GROUPS, 12.0, id="6 + 2 x 3"),
        pytest.param(HALVING, 6.4, id="27 x 0.1 + 9 x 0.2 + 3 x 0.6 + 0.1"),
    ],
)
def test_a_year_has_the_work_of_the_campaign(planner, plan_file, campaign: dict[str, Any], trainings: float):
    """A whole training takes 5 h at 30 USD where it is rented: 150 USD."""
    told = {
        "schema_version": 1, "name": "work", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000}, "campaign": campaign,
        "options": [
            {"site": "dgx-station-v100", "step": step(20.0)},
            {"offer": "lambda/gpu_8x_h100_sxm5", "usd_per_hour": 30.0, "step": step(5.0)},
        ],
        "assumptions": {
            "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0
        },
        "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
    }  # fmt: skip
    path = plan_file(yaml.safe_dump(told))
    year = planner("own-or-rent", path, "--json").document["by_plan"]
    rent = next(option for option in year["options"] if option["id"].startswith("lambda"))
    assert year["trainings"] == pytest.approx(trainings)
    assert rent["usd_per_year"]["value"] == pytest.approx(150.0 * trainings)
    compared = planner("compare", path, "--json").document["options"]
    assert next(option for option in compared if option["id"] == rent["id"])["campaign_usd"]["value"] == pytest.approx(
        rent["usd_per_year"]["value"], rel=0.001
    )
