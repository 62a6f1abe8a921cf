"""Computes by hand what is paid ahead for a year's trainings: blocks, grants and terms, and the runs of a search.

A training is 100 h, 9 times in 10 within 50 to 200: 4 in 5 take at most 100 x 2^(0.842 / 1.645) = 142.6 h. A block of
one training is the shortest that holds them and ends half an hour early: 6 days. By the hour at 42 USD a training is
likely 4,200 USD, and 4 in 5 cost at most 5,988.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.owning.test_own_or_rent_year import NO_DATA, NOTHING_ELSE, OWN, RENT, STEP

WIDE = STEP | {"low_seconds": 180_000.0, "high_seconds": 720_000.0}
HOURLY = RENT | {"step": WIDE}
OURS = {"site": OWN, "hold": "buy", "step": WIDE}
AS_ONE_GOES, BLOCK = "aws/p5en.48xlarge:us-east-1:on_demand", "aws/p5en.48xlarge:us-east-1:capacity_block"


@pytest.fixture
def asked(planner, plan_file):
    """Return what own-or-rent and compare answer on the same options, and the rows of both by id."""

    def answer(*options: dict[str, Any], **campaign: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        plan = {
            "schema_version": 1, "name": "by hand", "workload": {"ref": "gpt-305m", "seq_len": 512},
            "work": {"tokens": 1e9}, "options": list(options), "assumptions": NOTHING_ELSE, "data": NO_DATA,
            "campaign": {"runs": 1} | campaign,
        }  # fmt: skip
        path = plan_file(yaml.safe_dump(plan))
        year = planner("own-or-rent", path, "--json").document
        compared = planner("compare", path, "--json").document
        year["rows"] = {row["id"]: row for row in year["by_plan"]["options"]}
        compared["rows"] = {row["id"]: row for row in compared["options"]}
        return year, compared

    return answer


def block(usd_per_hour: float) -> dict[str, Any]:
    return HOURLY | {"price": "capacity_block", "usd_per_hour": usd_per_hour}


@pytest.mark.parametrize(
    ("confidence", "days"),
    [
        pytest.param(0.8, 6, id="143 h"),
        pytest.param(0.5, 5, id="100 h"),
        pytest.param(0.95, 9, id="200 h"),
    ],
)
def test_a_block_holds_a_year_s_work_with_the_confidence_as_a_campaign_s_does(asked, confidence, days):
    year, compared = asked(OURS, HOURLY, block(42.0), confidence=confidence)
    usd = year["rows"][BLOCK]["usd_per_year"]["value"]
    assert usd == pytest.approx(days * 24 * 42.0)
    assert usd == pytest.approx(compared["rows"][BLOCK]["campaign_usd"]["value"])
    assert year["rows"][BLOCK]["usd_committed"] == pytest.approx(usd)
    assert year["rows"][AS_ONE_GOES]["usd_committed"] is None


@pytest.mark.parametrize(
    ("usd_per_hour", "best"),
    [
        pytest.param(42.0, AS_ONE_GOES, id="the block is 6,048 USD, and 4 in 5 pay at most 5,988 by the hour"),
        pytest.param(40.0, AS_ONE_GOES, id="the block is 5,760: a tie, and the hours likely cost a quarter less"),
        pytest.param(30.0, BLOCK, id="the block is 4,320: more than the likely 4,200, and less than 5,988"),
        pytest.param(24.0, BLOCK, id="the block is 3,456, less than the likely 4,200"),
    ],
)
def test_a_block_and_hours_are_ordered_as_in_a_campaign(asked, usd_per_hour, best):
    year, compared = asked(OURS, HOURLY, block(usd_per_hour))
    assert year["by_plan"]["recommended"] == best
    assert compared["recommended"] == best


def test_a_commitment_over_the_budget_is_refused_as_a_purchase_is(asked):
    """A year at 20 USD is 175,320 USD and three 525,960. 80 trainings by the hour are 336,000 USD."""
    long = HOURLY | {"price": "savings_3y", "usd_per_hour": 20.0}
    term = AS_ONE_GOES.replace("on_demand", "savings_3y")
    work = {"runs": 80, "runs_per_year": 80}
    year, _ = asked(OURS, HOURLY, long, **work, budget_usd=400_000.0)
    assert year["rows"][term]["usd_per_year"]["value"] == pytest.approx(175_320)
    assert year["rows"][term]["usd_committed"] == pytest.approx(525_960)
    assert (year["rows"][term]["over_budget"], year["rows"][OWN]["over_budget"]) == (True, True)
    assert year["by_plan"]["recommended"] == AS_ONE_GOES
    assert year["headline"][-1] == (
        "Buying takes 406,000 USD at once and AWS p5en 3-year savings plan, 8x H200 commits 526,000 USD, both over "
        "the plan's budget."
    )
    assert year["horizons"]["year"].endswith("%, but takes 406,000 USD at once, over the plan's budget.")
    within, _ = asked(OURS, HOURLY, long, **work, budget_usd=530_000.0)
    assert within["rows"][term]["over_budget"] is False
    assert within["by_plan"]["recommended"] == OWN


@pytest.mark.parametrize(("node_hours", "holds"), [(141.0, False), (145.0, True)])
def test_a_grant_holds_a_year_s_work_with_the_confidence(asked, node_hours, holds):
    """143 node-hours are needed; the likely 100 are not what counts."""
    home = Path(os.environ["PLANNER_HOME"]) / "prices"
    home.mkdir(parents=True)
    (home / "grants.csv").write_text(
        "provider,instance_type,region,price_kind,usd_per_hour,source,as_of,accelerator,accelerators,valid_from,"
        f"valid_until,node_hours_limit\nuni,hall,campus,grant,0,award,2025-11-20,H200-SXM,8,2025-12-01,2030-12-20,"
        f"{node_hours}\n"
    )
    year, compared = asked(OURS, {"offer": "uni/hall", "price": "grant", "step": WIDE}, HOURLY)
    row = next(row for row in year["rows"].values() if row["price_kind"] == "grant")
    assert ("allocation_too_small" not in row["why_not_codes"]) is holds
    assert (compared["rows"][row["id"]]["not_allowed"] is None) is holds


def test_the_launches_of_short_runs_count_in_a_year_as_in_a_campaign(asked, planner, plan_file):
    """Four runs of a quarter of the work: 4 x (25 + 0.5 of set-up) x 42 USD, one training in the plan's whole work."""
    plan = {
        "schema_version": 1, "name": "by hand", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"tokens": 1e9}, "options": [{"site": OWN, "hold": "buy", "step": STEP}, RENT], "data": NO_DATA,
        "assumptions": NOTHING_ELSE | {"setup_hours": 0.5},
        "campaign": {"groups": [{"name": "quarters", "runs": 4, "work": {"tokens": 2.5e8}}]},
    }  # fmt: skip
    path = plan_file(yaml.safe_dump(plan))
    year = planner("own-or-rent", path, "--json").document["by_plan"]
    assert year["trainings"] == pytest.approx(1)
    usd = next(row for row in year["options"] if row["id"] == AS_ONE_GOES)["usd_per_year"]["value"]
    assert usd == pytest.approx(4 * 25.5 * 42)
    assert usd == pytest.approx(planner("campaign", path, "--json").option(AS_ONE_GOES)["campaign_usd"]["value"])
