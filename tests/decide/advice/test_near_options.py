"""The advice examines the first options of a long list only, and equals the advice for the whole list."""

from __future__ import annotations

from datetime import date
from itertools import product

import pytest

from planner.decide.advice import near_options
from planner.decide.advice.case import Case
from planner.decide.advice.inputs import moved_inputs
from planner.decide.advice.launch_words import AskedPlan
from planner.decide.advice.near_options import NearOptions
from planner.decide.advice.recommend import recommend
from planner.decide.advice.turning import turning_points
from planner.decide.campaign.chances import ranking_usd
from planner.decide.recommend.pareto import hours_of
from planner.model.plan.plan import Plan

TODAY = date(2026, 11, 21)
MACHINES = {"aws/p5en.48xlarge": 40.0, "aws/p5.48xlarge": 33.0, "aws/g6e.48xlarge": 2.4, "aws/g6.48xlarge": 1.5}
P5 = "aws/p5.48xlarge"
FIRST, QUICKEST = 6, 2
KEPT = ("recommended", "turning_points", "swings", "at_confidence", "simulated", "alternatives", "sentence")


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(near_options, "FIRST", FIRST)
    monkeypatch.setattr(near_options, "QUICKEST", QUICKEST)


def long_plan(copies: int, **changes) -> Plan:
    """Return Llama 3 8B on each of four machines, at `copies` prices each."""
    offers = [
        {"offer": name, "region": "us-east-1", "usd_per_hour": usd * (1 + 0.02 * copy)}
        for copy, (name, usd) in product(range(copies), MACHINES.items())
    ]
    fields = {
        "schema_version": 1, "name": "long", "workload": {"ref": "llama3-8b"}, "work": {"tokens": 3e8},
        "options": offers,
    }  # fmt: skip
    return Plan.model_validate(fields | changes)


@pytest.mark.slow
@pytest.mark.parametrize("campaign", [{"runs": 2}, {"runs": 1, "prefer": "time"}], ids=["by cost", "by time"])
def test_the_advice_is_the_same_as_for_the_whole_list(catalog, monkeypatch, campaign):
    asked = long_plan(3, campaign=campaign)
    short = recommend(asked, catalog, today=TODAY, asked=AskedPlan("plan.yaml"))
    monkeypatch.setattr(near_options, "FIRST", 500)
    whole = recommend(asked, catalog, today=TODAY, asked=AskedPlan("plan.yaml"))
    assert short.turning_points
    assert {name: getattr(short, name) for name in KEPT} == {name: getattr(whole, name) for name in KEPT}
    (note,) = set(short.notes) - set(whole.notes)
    assert note.endswith(" of 12")


@pytest.mark.slow
def test_the_option_that_a_deadline_comes_to_choose_is_kept(catalog, monkeypatch):
    """More than two trainings are too many for the cheap machines, and the quickest cost more than the middle one."""
    offers = [
        {"offer": name, "region": "us-east-1", "usd_per_hour": usd + 0.1 * copy}
        for name, usd, copies in (
            ("aws/g6.48xlarge", 1.5, 8),
            ("aws/p4d.24xlarge", 40, 1),
            ("aws/p5en.48xlarge", 300, 4),
        )
        for copy in range(copies)
    ]
    asked = long_plan(1, options=offers, campaign={"runs": 2, "deadline": "2026-12-16", "at_once": 1})
    short = recommend(asked, catalog, today=TODAY, asked=AskedPlan("plan.yaml"))
    monkeypatch.setattr(near_options, "FIRST", 500)
    whole = recommend(asked, catalog, today=TODAY, asked=AskedPlan("plan.yaml"))
    assert "aws/p4d" in {(point.then or "")[:7] for point in short.turning_points if point.input == "trainings"}
    assert {name: getattr(short, name) for name in KEPT} == {name: getattr(whole, name) for name in KEPT}


def test_an_option_that_fits_only_fewer_trainings_is_kept(catalog):
    """Spot is not recommended for 23 days; one training instead of two takes half as long."""
    offers = [{"offer": P5, "region": "us-east-1", "usd_per_hour": 33 + 0.1 * copy} for copy in range(8)]
    spot = {"offer": P5, "region": "us-east-1", "price": "spot", "usd_per_hour": 8.0}
    asked = long_plan(1, options=[*offers, spot], campaign={"runs": 2}, work={"tokens": 4e10})
    case = Case.of(asked, catalog, today=TODAY)
    near = NearOptions.of(case, case.campaign().options)
    (trainings,) = [moved for moved in moved_inputs(near.case, near.options, near.options) if moved.name == "trainings"]
    sentences = {point.sentence for point in turning_points(near.case, near.options, trainings)}
    assert "AWS p5 spot, 8x H100 wins up to 1 training (now 2)." in sentences


def test_the_first_the_quickest_and_the_front_are_kept(catalog):
    """The front is found by a second method: an option is on it if no other is both cheaper and faster."""
    case = Case.of(long_plan(3), catalog, today=TODAY)
    options = case.campaign().options
    near = NearOptions.of(case, options)
    by_usd, by_hours = (sorted(options, key=key) for key in (ranking_usd, hours_of))
    front = {
        option.id
        for option in options
        if not any(
            ranking_usd(other) < ranking_usd(option) and hours_of(other) <= hours_of(option) for other in options
        )
    }
    expected = {option.id for option in (*by_usd[:FIRST], *by_hours[:QUICKEST])} | front
    assert {option.id for option in near.options} == {pace.candidate.id for pace in near.case.paced} == expected
    assert len(expected) < len(options)
    assert near.case.decide(near.options) == case.decide(options)
    assert [option.id for option in near.case.campaign().options] == [option.id for option in near.options]


def test_a_short_list_is_kept_whole(catalog):
    case = Case.of(long_plan(1), catalog, today=TODAY)
    options = case.campaign().options
    near = NearOptions.of(case, options)
    assert (near.options, near.note, near.case) == (options, None, case)
