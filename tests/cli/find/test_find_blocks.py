"""Capacity Blocks in `planner find`: shown if their days are used."""

from __future__ import annotations

import pytest

LORA = ("llama3-8b", "--method", "lora", "--tokens", "35e6")


def test_a_capacity_block_is_among_the_firm_ones_where_its_days_are_used(planner) -> None:
    """Some nine days on p5 are bought as the block that holds them with 4 in 5, and not shown where it is a day."""
    wanted = ("--provider", "aws", "--accelerator", "H100-SXM", "--gpus", "8", "--firm", "--json")
    long = planner("find", "llama3-8b", "--tokens", "30e9", *wanted).document["options"]
    [block] = [
        option for option in long if option["price_kind"] == "capacity_block" and option["offer"] == "aws/p5.48xlarge"
    ]
    assert (block["firm"], block["display_name"]) == (True, "AWS p5 block, 8x H100")
    hours = sum(line["quantity"] for line in block["bill"]["lines"] if line["quantity_unit"] == "node-h")
    work = block["campaign_hours"]
    surely = work["value"] * (work["high"] / work["value"]) ** (0.8416 / 1.645)
    sold = [24 * days for days in (*range(1, 15), 21, 28)]
    assert hours == pytest.approx(next(length for length in sold if length >= surely + 0.5))
    assert block["bill"]["usd_upfront"] == pytest.approx(hours * 47.76, abs=0.01)
    short = planner("find", *LORA, *wanted).document["options"]
    best = min(short, key=lambda option: option["campaign_usd"]["value"])
    assert best["price_kind"] == "on_demand"


def test_a_block_is_left_out_where_most_of_it_would_be_unused(planner) -> None:
    """An hour of work: the day that a block lasts would be unused, whatever else is known to be joined."""
    document = planner("find", *LORA, "--provider", "aws", "--firm", "--json").document
    assert not any(option["price_kind"] == "capacity_block" for option in document["options"])
    assert any("Capacity Blocks of which the work uses less than half" in note for note in document["notes"])


def test_where_blocks_alone_are_to_be_had_an_idle_one_is_no_answer(planner) -> None:
    """P5e in Stockholm is sold by the block alone: a quarter of an hour's work would pay for a day of eight H200."""
    asked = ("--tokens", "1e6", "--provider", "aws", "--region", "eu-north-1", "--gpus", "8", "--firm")
    answer = planner("find", "llama3-8b", *asked)
    assert answer.code == 2
    assert "Capacity Blocks of which the work uses less than half" in answer.err
    assert " -" not in answer.err.partition("Left out")[2]
