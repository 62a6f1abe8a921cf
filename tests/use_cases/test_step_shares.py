"""The shares of a step's parts: the source of a speed and the table of `explain` give the same ones."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from planner.speed.throughput.prediction_notes import part_names
from planner.use_cases.explain import explain
from planner.use_cases.plans import read_plan
from tests.bundled import bundled_catalog

EXAMPLES = Path(__file__).parents[2] / "examples"
SHARE = re.compile(r"(?:of that |, )((?!of that)[^,%]+) (\d+)%")


@pytest.mark.parametrize("name", ["qlora_llama3_8b", "dpo_8b"])
def test_the_source_and_the_table_give_the_same_shares(name: str):
    plan = read_plan(EXAMPLES / f"{name}.yaml")
    options = explain(plan, bundled_catalog(), option=None, today=date(2026, 11, 27)).options
    compared = 0
    for option in options:
        if option.throughput_from != "estimator" or option.throughput is None:
            continue
        names = part_names("tokens")
        table = {names[part.name]: part.share for part in option.parts}
        for part, share in SHARE.findall(option.throughput.source):
            assert 100 * table[part] == pytest.approx(int(share), abs=0.51), part
            compared += 1
    assert compared > 5
