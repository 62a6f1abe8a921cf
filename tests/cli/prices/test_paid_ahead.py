"""Capacity that is paid ahead holds the work at the plan's confidence; all commands bill the same for it."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

WORK = "schema_version: 1\nname: paid ahead\nworkload: {ref: llama3-8b}\nwork: {tokens: 2.0e9}\n"
COLUMNS = (
    "provider,instance_type,region,price_kind,usd_per_hour,source,as_of,accelerator,accelerators,valid_from,"
    "valid_until,node_hours_limit\n"
)
Z = {0.5: 0.0, 0.8: 0.8416, 0.9: 1.2816}
"""Standard normal quantiles, from a table."""


@pytest.fixture
def plan(tmp_path: Path):
    """Write a plan with these options and this campaign."""

    def write(options: list[dict[str, Any]], **campaign: Any) -> Path:
        path = tmp_path / "plan.yaml"
        training = "training: {precision: bf16}\n"
        path.write_text(WORK + training + yaml.safe_dump({"campaign": campaign, "options": options}), "utf-8")
        return path

    return write


def grant(node_hours: float) -> None:
    folder = Path(os.environ["PLANNER_HOME"]) / "prices"
    folder.mkdir(parents=True, exist_ok=True)
    row = f"uni,hall,campus,grant,0,award,2026-11-20,H100-SXM,8,2026-12-10,2026-12-20,{node_hours}\n"
    (folder / "own.csv").write_text(COLUMNS + row, "utf-8")


def at(quantity: dict[str, float], confidence: float) -> float:
    """Return the value that a two-piece log-normal stays under: value x (high / value) ^ (z / 1.645)."""
    return quantity["value"] * (quantity["high"] / quantity["value"]) ** (Z[confidence] / 1.645)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("runs", [1, 2, 5])
def test_a_block_holds_the_work_at_the_confidence_and_costs_the_same_everywhere(planner, plan, confidence, runs):
    """AWS sells 1 to 14 days, and takes the machines half an hour before the end."""
    block = {"offer": "aws/p5.48xlarge", "region": "us-east-1", "price": "capacity_block"}
    path = plan([block], runs=runs, confidence=confidence)
    (option,) = planner("compare", path, "--json").document["options"]
    days = math.ceil((at(option["campaign_hours"], confidence) + 0.5) / 24)
    price = option["usd_per_hour"]["value"]
    bought = option["smallest_purchase_usd"]["value"] / price / 24
    assert bought in (days, days + 1), "its set-up and idle tail are on top of the campaign's hours"
    planned = planner("campaign", path, "--json").document
    assert planned["campaign_usd"]["value"] == pytest.approx(option["campaign_usd"]["value"], rel=0.002)
    assert option["bill"]["usd_upfront"] == pytest.approx(bought * 24 * price, abs=0.01)


def test_the_chance_of_a_deadline_far_off_is_that_of_the_block(planner, plan):
    """The block holds the work with 9 in 10 or a little more; a deadline in months adds nothing."""
    block = {"offer": "aws/p5.48xlarge", "region": "us-east-1", "price": "capacity_block"}
    path = plan([block], runs=5, confidence=0.9, deadline="2027-06-30")
    (option,) = planner("compare", path, "--json").document["options"]
    assert 0.9 <= option["chance_deadline"] < 0.97


def test_a_grant_takes_the_runs_that_it_holds_at_the_confidence(planner, plan):
    """A run needs some 15 node-hours in the middle and 25 with 4 in 5: 10.5 hold none, 26 one, 60 two."""
    options = [{"offer": "uni/hall", "price": "grant"}, {"offer": "lambda/gpu_8x_h100_sxm5"}]
    placed = {}
    for node_hours in (10.5, 26.0, 60.0):
        grant(node_hours)
        document = planner("campaign", plan(options, runs=3, budget_usd=9000), "--json").document
        of_grant = [
            placement["runs"] for placement in document["placements"] if placement["option"].startswith("uni/hall")
        ]
        placed[node_hours] = sum(of_grant)
        each = next(option for option in document["options"] if option["offer"] == "uni/hall")
        needed = at(each["campaign_hours"], 0.8) / 3
        assert placed[node_hours] * needed <= node_hours * 1.01
    assert placed == {10.5: 0, 26.0: 1, 60.0: 2}


def test_what_waiting_is_worth_counts_in_every_command(planner, tmp_path):
    """The station takes a month, eight H100 three days: 15 USD an hour of waiting is worth more than their rent."""
    path = tmp_path / "wait.yaml"
    told = {
        "schema_version": 1, "name": "people wait", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"tokens": 2e10}, "training": {"precision": "fp16"},
        "options": [{"site": "dgx-station-v100"}, {"offer": "lambda/gpu_8x_h100_sxm5"}],
    }  # fmt: skip
    recommended = {}
    for usd in (0, 15):
        path.write_text(yaml.safe_dump(told | {"campaign": {"runs": 10, "waiting_usd_per_hour": usd}}), "utf-8")
        compared = planner("compare", path, "--json").document
        advised = planner("recommend", path, "--json").document
        placed = planner("campaign", path, "--json").document["placements"]
        most = max(placed, key=lambda placement: placement["runs"])["option"]
        assert compared["recommended"] == advised["recommended"] == most
        recommended[usd] = most
    assert recommended[0] == "dgx-station-v100"
    assert recommended[15].startswith("lambda")
