"""A signed lease is owed whether its machine is used or not, so that keeping it costs the electricity of its training.

By hand: a training is one step of 360,000 s, 100 h; the machine draws 7.7 kW at work, at 0.10 USD a kWh and a PUE of
1.25; a rented one costs 42 USD an hour.
"""

from __future__ import annotations

import pytest
import yaml

STEP = {"batch": 1_953_125, "seconds": 360_000.0, "basis": "measured"}
HOURLY = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "usd_per_hour": 42.0, "step": STEP}
ASSUMED = {
    "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
    "electricity_usd_per_kwh": 0.1, "pue": 1.25,
}  # fmt: skip
LEASED = {
    "schema_version": 1, "id": "leased", "name": "Leased", "node": "hgx-h200-8x",
    "lease": {"usd_per_month": 14_500, "term_months": 24, "maintenance_included": True},
    "power": {"value": 7.7, "unit": "kW", "basis": "quoted", "source": "meter", "as_of": "2026-11-20"},
    "source": "contract", "as_of": "2026-11-20",
}  # fmt: skip


@pytest.fixture
def year(planner, plan_file, tmp_path):
    """Return own-or-rent's year with that many trainings on the leased machine, held in the given ways."""

    def answered(runs: int, *holds: str, months: int = 24):
        folder = tmp_path / "planner-home" / "sites"
        folder.mkdir(parents=True, exist_ok=True)
        lease = LEASED["lease"] | {"term_months": months}
        (folder / "leased.yaml").write_text(yaml.safe_dump(LEASED | {"lease": lease}))
        owned = [{"site": "leased", "hold": hold, "step": STEP} for hold in holds]
        text = {
            "schema_version": 1, "name": "by hand", "workload": {"ref": "gpt-305m", "seq_len": 512},
            "work": {"tokens": 1e9}, "options": [*owned, HOURLY], "assumptions": ASSUMED,
            "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0}, "campaign": {"runs": runs},
        }  # fmt: skip
        return planner("own-or-rent", plan_file(yaml.safe_dump(text)), "--json").document["by_plan"]

    return answered


def test_keeping_it_costs_its_electricity_alone(year):
    """2 x 100 h x 7.7 kW x 1.25 x 0.10 = 192.50 USD against 2 x 100 h x 42 = 8,400; the 174,000 are owed anyway."""
    found = year(2, "have")
    usd = {option["id"]: option["usd_per_year"]["value"] for option in found["options"]}
    assert usd["leased"] == pytest.approx(192.5)
    assert found["recommended"] == "leased"
    assert next(option["lease_owed"] for option in found["options"] if option["id"] == "leased")


def test_a_lease_that_is_still_to_be_signed_is_counted(year):
    """12 x 14,500 = 174,000 USD and more, which 8,400 USD of rent undercut."""
    found = year(2, "rent")
    own = next(option for option in found["options"] if option["id"] == found["owning"])
    assert own["usd_per_year"]["value"] > 174_000
    assert found["recommended"] != found["owning"]


def test_of_two_options_of_one_machine_the_one_that_stands_there_is_answered(year):
    found = year(2, "rent", "have")
    own = next(option for option in found["options"] if option["id"] == found["owning"])
    assert own["hold"] == "have"
    assert found["recommended"] == found["owning"]


def test_a_lease_of_six_months_does_half_a_year_of_work(year):
    """0.5 x 8,766 h x 0.985 available / 100 h = 43.2 trainings of 60."""
    assert year(60, "have", months=6)["most_trainings"] == pytest.approx(43.17, abs=0.01)
