"""In a long list an input is moved for the first options alone: the answer is the one that all of them give."""

from __future__ import annotations

from datetime import date
from itertools import product

import pytest

from planner.decide.advice import near_options
from planner.decide.advice.case import Case
from planner.decide.advice.near_options import NearOptions
from planner.decide.advice.recommend import recommend
from planner.model.plan.plan import Plan

TODAY = date(2026, 11, 21)
MACHINES = {"aws/p5en.48xlarge": 40.0, "aws/p5.48xlarge": 33.0, "aws/g6e.48xlarge": 2.4, "aws/g6.48xlarge": 1.5}
FIRST, QUICKEST = 6, 2
KEPT = ("recommended", "turning_points", "swings", "at_confidence", "simulated", "alternatives", "sentence")


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(near_options, "FIRST", FIRST)
    monkeypatch.setattr(near_options, "QUICKEST", QUICKEST)


def long_plan(copies: int, **changes) -> Plan:
    """Return Llama 3 8B on so many prices of each of four machines."""
    offers = [
        {"offer": name, "region": "us-east-1", "usd_per_hour": usd * (1 + 0.02 * copy)}
        for copy, (name, usd) in product(range(copies), MACHINES.items())
    ]
    fields = {
        "schema_version": 1, "name": "long", "workload": {"ref": "llama3-8b"}, "work": {"tokens": 3e8},
        "options": offers,
    }  # fmt: skip
    return Plan.model_validate(fields | changes)


@pytest.mark.parametrize("campaign", [{"runs": 2}, {"runs": 1, "prefer": "time"}], ids=["by cost", "by time"])
def test_what_would_change_the_answer_is_the_same_as_among_all(catalog, monkeypatch, campaign):
    asked = long_plan(3, campaign=campaign)
    short = recommend(asked, catalog, today=TODAY, asked="plan.yaml")
    monkeypatch.setattr(near_options, "FIRST", 500)
    whole = recommend(asked, catalog, today=TODAY, asked="plan.yaml")
    assert short.turning_points
    assert {name: getattr(short, name) for name in KEPT} == {name: getattr(whole, name) for name in KEPT}
    (said,) = set(short.notes) - set(whole.notes)
    assert said.endswith(" of 12")


def test_what_a_deadline_comes_to_choose_is_among_them(catalog, monkeypatch):
    """More trainings than two are too many for the cheap, and the quickest are dearer than the one in the middle."""
    offers = [
        {"offer": name, "region": "us-east-1", "usd_per_hour": usd + 0.1 * copy}
        for name, usd, copies in (
            ("aws/g6.48xlarge", 1.5, 8),
            ("aws/p4d.24xlarge", 40, 1),
            ("aws/p5en.48xlarge", 300, 4),
        )
        for copy in range(copies)
    ]
    asked = long_plan(1, options=offers, campaign={"runs": 2, "deadline": "2026-12-16"})
    short = recommend(asked, catalog, today=TODAY, asked="plan.yaml")
    monkeypatch.setattr(near_options, "FIRST", 500)
    whole = recommend(asked, catalog, today=TODAY, asked="plan.yaml")
    assert "aws/p4d" in {(one.then or "")[:7] for one in short.turning_points if one.input == "trainings"}
    assert {name: getattr(short, name) for name in KEPT} == {name: getattr(whole, name) for name in KEPT}


def test_the_first_the_quickest_and_no_more_are_looked_at(catalog):
    case = Case.of(long_plan(3), catalog, today=TODAY)
    options = case.campaign().options
    near = NearOptions.of(case, options)
    assert FIRST <= len(near.options) == len(near.case.paced) < len(options)
    assert near.case.decide(near.options) == case.decide(options)
    assert [option.id for option in near.case.campaign().options] == [option.id for option in near.options]


def test_of_a_short_list_none_is_left_out(catalog):
    case = Case.of(long_plan(1), catalog, today=TODAY)
    options = case.campaign().options
    near = NearOptions.of(case, options)
    assert (near.options, near.note, near.case) == (options, None, case)
