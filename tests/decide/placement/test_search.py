"""The best plan at each confidence, by trying every division of equal runs on the samples; and its laws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from itertools import pairwise, product
from math import inf
from typing import Any

import pytest

from planner.decide.campaign.alone import Alone, each_alone
from planner.decide.placement.chosen import Chosen, chosen_plan
from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Objective, RunsOnLane, evaluate
from planner.decide.placement.question import question_of
from planner.decide.placement.search import best_plan
from planner.model.answer.documents import CampaignDocument
from planner.model.plan.plan import Plan
from planner.use_cases import plans
from tests.bundled import bundled_catalog
from tests.decide.recommend.generated_plans import drawn_plan

TODAY = date(2026, 11, 24)
CONFIDENCES = (0.5, 0.7, 0.8, 0.9, 0.97)
SEEDS = [pytest.param(seed, id=str(seed), marks=() if seed < 15 else (pytest.mark.slow,)) for seed in range(100)]


def windowed(offer: str, hours: float, usd: float, ends: str, within: float) -> dict[str, Any]:
    """Return an option whose machines are taken away on a day; a run takes these hours within a factor of 90 %."""
    window = {"start": "2026-12-01T00:00:00+00:00", "end": f"{ends}T00:30:00+00:00"}
    step = {"batch": 10, "seconds": hours, "low_seconds": hours / within, "high_seconds": hours * within}
    made = {"offer": offer, "region": "us-east-1", "price": "on_demand", "usd_per_hour": usd, "window": window}
    return made | {"step": step | {"basis": "measured"}}


def asked(confidence: float, **limits: Any) -> Plan:
    """Return five runs: on two windows that are cheap and may be too short, and on a dear machine without one."""
    dear = windowed("aws/p5.48xlarge", 4.0, 90.0, "2026-12-01", 2.0)
    del dear["window"]
    return Plan.model_validate({
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000},
        "campaign": {"start": "2026-12-01", "runs": 5, "at_once": 1, "confidence": confidence} | limits,
        "options": [
            windowed("aws/p4d.24xlarge", 12.0, 1.0, "2026-12-03", 1.7),
            windowed("aws/p5en.48xlarge", 6.0, 20.0, "2026-12-02", 2.4), dear,
        ],
    })  # fmt: skip


def every_division(alone: Alone) -> Iterator[Chosen]:
    """Yield the plans of all numbers of runs on each option, one lane each."""
    question = question_of(alone, bundled_catalog(), today=TODAY)
    endless = replace(
        question.instance, bins=tuple(replace(bin_, closes=inf) for bin_ in question.instance.bins)
    )  # fmt: skip
    for counts in product(range(6), repeat=3):
        if sum(counts) == 5:
            found = evaluate(endless, [RunsOnLane(way, 0, runs) for way, runs in enumerate(counts) if runs])
            assert found is not None
            found = replace(found, instance=question.instance)
            yield chosen_plan(question, found, alone.limits, alone.budget, asked=question.instance)


@pytest.mark.parametrize("confidence", [0.5, 0.6, 0.7, 0.8, 0.9, 0.93, 0.95, 0.96, 0.97, 0.99])
def test_no_division_on_the_samples_is_cheaper(confidence):
    alone = each_alone(asked(confidence, budget_usd=4000.0), bundled_catalog(), today=TODAY)
    question = question_of(alone, bundled_catalog(), today=TODAY)
    best = best_plan(question, alone, Objective.COST, Effort(10.0)).best
    able = [plan for plan in every_division(alone) if plan.keeps(confidence)]
    if not able:
        assert best is None
        return
    assert best is not None
    assert best.least_chance >= confidence
    assert best.usd_confident == pytest.approx(min(plan.usd_confident for plan in able), rel=1e-3)  # equal by `CHEAPER`


def at_confidences(drawn: dict[str, Any]) -> list[CampaignDocument]:
    given = [
        Plan.model_validate(drawn | {"campaign": drawn["campaign"] | {"confidence": confidence}})
        for confidence in CONFIDENCES
    ]
    return [plans.campaign(plan, bundled_catalog(), today=TODAY, objective="cost") for plan in given]


@pytest.mark.parametrize("seed", SEEDS)
def test_higher_confidence_lowers_no_at_most_and_makes_no_plan_possible(seed):
    drawn = drawn_plan(seed)
    drawn["campaign"] = {name: value for name, value in drawn["campaign"].items() if name != "waiting_usd_per_hour"}
    for lower, higher in pairwise(at_confidences(drawn)):
        if higher.feasible:
            assert lower.feasible
            assert lower.usd_confident is not None
            assert higher.usd_confident is not None
            assert lower.usd_confident <= higher.usd_confident * (1 + 1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_campaign_is_what_compare_recommends_or_a_note_says_why_not(seed):
    plan = Plan.model_validate(drawn_plan(seed))
    compared = plans.compare(plan, bundled_catalog(), today=TODAY)
    planned = plans.campaign(plan, bundled_catalog(), today=TODAY)
    if any("compare" in note for note in planned.notes):
        return
    placed = {placement.option: placement.runs for placement in planned.placements}
    if compared.mix is not None:
        assert placed == {placement.option: placement.runs for placement in compared.mix.placements}
        assert planned.usd_confident == compared.mix.usd_confident
    else:
        assert list(placed) == ([] if compared.recommended is None else [compared.recommended])
