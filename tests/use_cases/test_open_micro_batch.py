"""A micro-batch that the plan leaves open: a note says where its speed and its chance to fit belong to two sizes."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from planner.adapters.documents import parse_model
from planner.model.plan.plan import Plan
from planner.use_cases.plans import compare
from tests.bundled import bundled_catalog

EXAMPLE = Path(__file__).parents[2] / "examples" / "qlora_llama3_8b.yaml"
SAID = re.compile(r"micro-batch (\d+), which fits with a chance of (\d+) %; .* micro-batch 1 .* \((\d+) %\)")


def first_option(**stated: Any) -> Any:
    plan = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    plan["options"] = plan["options"][:1]
    plan["training"] |= stated
    document = compare(parse_model(Plan, plan, where="test"), bundled_catalog(), today=date(2026, 11, 27))
    return document.options[0]


def test_the_note_gives_both_chances_as_plans_that_state_the_size_do():
    option = first_option()
    (found,) = filter(None, map(SAID.search, option.notes))
    size, its_chance, smallest = map(int, found.groups())
    assert size > 1
    assert round(100 * first_option(micro_batch=size).fit_chance) == its_chance
    fallback = first_option(micro_batch=1, checkpointing=option.checkpointing).fit_chance
    assert min(99, round(100 * fallback)) == smallest == min(99, round(100 * option.fit_chance))


def test_a_stated_size_has_no_such_note():
    assert not any(map(SAID.search, first_option(micro_batch=2).notes))
