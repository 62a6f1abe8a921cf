"""Credits of two providers, of which one's end before the campaign begins. All hours and prices are by hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

BOOK = """
schema_version: 1
as_of: 2026-11-20
credits:
  - {name: start, provider: lambda, usd: 1000, expires: 2027-03-31, source: their mail}
  - {name: soon, provider: aws, usd: 5000, expires: 2026-11-28, source: their mail}
"""


def option(offer: str, hours: float, usd: float) -> dict[str, Any]:
    step = {"batch": 10, "seconds": hours, "low_seconds": hours, "high_seconds": hours, "basis": "measured"}
    return {"offer": offer, "usd_per_hour": usd, "step": step}


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Six runs: 10 h at 32 USD on Lambda, or 5 h at 55 USD on AWS."""
    home = Path(os.environ["PLANNER_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "price_book.yaml").write_text(BOOK, "utf-8")
    told = {
        "schema_version": 1, "name": "credits", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000},
        "campaign": {"runs": 6, "at_once": 1, "start": "2026-12-01", "budget_usd": 1200.0},
        "options": [
            option("lambda/gpu_8x_h100_sxm5", 10.0, 32.0),
            option("aws/p5.48xlarge", 5.0, 55.0) | {"region": "us-east-1"},
        ],
        "assumptions": {
            "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0
        },
        "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
    }  # fmt: skip
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(told), "utf-8")
    return path


def test_credits_that_end_before_the_start_pay_nothing_of_a_plan(planner, plan):
    """Three runs of 320 USD are paid by Lambda's credits; three of 275 USD on AWS are not, and remain to pay."""
    document = planner("campaign", plan, "--with-price-book", "--json").document
    usd = {placement["option"].split("/")[0]: placement["usd"] for placement in document["placements"]}
    owed = usd.get("aws", 0.0) + max(0.0, usd.get("lambda", 0.0) - 1000.0)
    assert document["usd_confident"] == pytest.approx(owed, rel=0.01)
    assert owed == pytest.approx(825.0, rel=0.001)


def test_compare_mixes_where_that_spends_the_credits_best(planner, plan):
    """All six on Lambda leave 1,920 - 1,000 = 920 USD to pay, over 5 % more than 825."""
    mix = planner("compare", plan, "--with-price-book", "--json").document["mix"]
    assert mix is not None
    assert sorted(placement["runs"] for placement in mix["placements"]) == [3, 3]


def test_the_first_line_says_what_is_before_credits_and_what_is_after(planner, plan):
    """Six runs of 320 USD on Lambda, of which 1,000 USD are paid."""
    answer = planner("campaign", plan, "--with-price-book", "--format", "table", "--objective", "cost")
    found = planner("campaign", plan, "--with-price-book", "--json", "--objective", "cost").document
    shown = found if found["feasible"] else found["nearest_feasible"]
    assert shown["credits_usd"] == pytest.approx(
        min(1000.0, sum(placed["usd"] for placed in shown["placements"] if placed["option"].startswith("lambda")))
    )
    assert " USD before credits, " in answer.out
    assert " USD after credits." in answer.out.replace("\n ", "")
    without = planner("campaign", plan, "--format", "table", "--objective", "cost").out
    assert "credits," not in without
    assert "after credits" not in without
