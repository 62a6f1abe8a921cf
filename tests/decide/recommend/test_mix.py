"""Runs divided over options if that beats every option alone. Figures by hand from steps and prices of the plan."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from planner.decide.advice.launch_words import AskedPlan
from planner.decide.advice.recommend import recommend
from planner.decide.campaign.alone import each_alone
from planner.decide.recommend.answer_plan import answer_plan
from planner.decide.recommend.mix import best_mix, with_mix
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.recommendation import RecommendationDocument
from planner.model.plan.plan import Plan
from planner.model.prices.price_book import Credit
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 24)
OWN = {"site": "dgx-station-v100", "power_kw": 1.0}
P5EN = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "on_demand", "usd_per_hour": 60.0}
P4D = {"offer": "aws/p4d.24xlarge", "region": "us-east-1", "price": "on_demand", "usd_per_hour": 20.0}


def option(given: dict[str, Any], hours: float, **update: Any) -> dict[str, Any]:
    seconds = dict.fromkeys(("seconds", "low_seconds", "high_seconds"), hours)
    return given | {"step": {"batch": 10, "basis": "measured"} | seconds} | update


def plan(options: list[dict[str, Any]], **limits: Any) -> Plan:
    return Plan.model_validate({
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000}, "options": options,
        "campaign": {"start": "2026-12-01", "runs": 50} | limits,
        "assumptions": {
            "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
            "support_fraction": 0.0, "electricity_usd_per_kwh": 0.1, "pue": 1.0,
        },
        "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
    })  # fmt: skip


def answered(options: list[dict[str, Any]], **limits: Any) -> ComparisonDocument:
    return answer_plan(plan(options, **limits), bundled_catalog(), today=TODAY)


def advised(options: list[dict[str, Any]], **limits: Any) -> RecommendationDocument:
    return recommend(plan(options, **limits), bundled_catalog(), today=TODAY, asked=AskedPlan("plan.yaml"))


HALF = [option(OWN, 12.0), option(P5EN, 2.0)]
"""There are 312 h until 2026-12-13: 26 runs of 12 h on the own machine, 24 of 120 USD on p5en."""


def test_the_own_machine_does_what_it_can_in_time():
    found = answered(HALF, deadline="2026-12-13")
    assert found.mix is not None
    assert {placed.option: placed.runs for placed in found.mix.placements} == {
        "dgx-station-v100": 26, "aws/p5en.48xlarge:us-east-1:on_demand": 24,
    }  # fmt: skip
    assert found.mix.campaign_usd.value == pytest.approx(26 * 1.2 + 24 * 120)
    assert found.headline[0].startswith("Mix 2 options: done by 2026-12-13, at most 2,9")
    assert found.headline[1] == "DGX Station, 4x V100: 26 trainings; AWS p5en, 8x H200: 24."
    assert found.headline[2].startswith("Alone: AWS p5en, 8x H200, done by 2026-12-05, at most 6,")
    assert found.recommended == "aws/p5en.48xlarge:us-east-1:on_demand"
    assert all(len(sentence.split()) <= 20 for sentence in found.headline)


def test_a_mix_may_keep_limits_that_no_option_alone_keeps():
    """A budget of 4,000 USD: the own machine is late, p5en costs 6,000."""
    found = answered(HALF, deadline="2026-12-13", budget_usd=4000.0)
    assert found.mix is not None
    assert found.recommended is None
    assert found.feasible
    assert found.headline[2] == "As listed, no option alone keeps the limits."


@pytest.mark.parametrize("answer", [answered, advised], ids=["compare", "recommend"])
def test_what_a_mix_needs_is_said_where_the_budget_is_too_small(answer):
    """26 x 1.20 + 24 x 120 = 2,911 USD, and dearer power perhaps; the own machine alone needs 50 x 12 h, 25 days."""
    found = answer(HALF, deadline="2026-12-13", budget_usd=1000.0)
    alone, mixed = found.headline[1].split(", or ")
    assert alone == "To be 4 in 5 sure, it needs time until 2026-12-25 alone"
    assert mixed.startswith("a mix of 2 options 2,9")


def test_the_option_that_needs_the_least_is_named_where_no_mix_is_wanted():
    """50 runs cost 50 x 2 h x 60 = 6,000 USD on p5en, and 50 x 4 h x 20 = 4,000 on p4d."""
    options = [option(P5EN, 2.0), option(P4D, 4.0)]
    found = answered(options, deadline="2026-12-13", budget_usd=100.0, mix="never")
    assert "4,000 USD alone" in found.headline[1] or found.headline[1].endswith("needs the least alone: 4,000 USD.")


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param({}, id="without limits the own machine is the cheapest"),
        pytest.param({"deadline": "2026-12-13", "mix": "never"}, id="never"),
        pytest.param({"deadline": "2026-12-13", "runs": 1}, id="one run"),
        pytest.param({"deadline": "2026-10-13", "start": "2026-10-01"}, id="the deadline has passed"),
        pytest.param({"deadline": "2026-12-01", "budget_usd": 10.0}, id="nothing fits"),
    ],
)
def test_no_mix(limits):
    found = answered(HALF, **limits)
    assert found.mix is None
    assert not found.headline[0].startswith("Mix")


def test_a_small_saving_is_not_worth_two_machines():
    """p4d does 2 of 50 runs in time for 118 USD each instead of 120: 0.1 %."""
    little = [option(P4D, 5.9), option(P5EN, 2.0)]
    assert answered(little, deadline="2026-12-05").mix is None


def test_the_fastest_uses_all_machines():
    """p5en and p4d each do 3 runs of 2 h in 6 h."""
    found = answered([option(P4D, 2.0), option(P5EN, 2.0)], runs=6, prefer="time", at_once=1)
    assert found.mix is not None
    assert found.mix.campaign_hours.value == pytest.approx(6.0)


@pytest.mark.parametrize(("opens", "mixed"), [("2026-12-01", True), ("2026-12-05", False)])
def test_without_a_deadline_a_mix_is_not_much_slower(opens, mixed):
    """Eight runs on p5en: 16 h, 960 USD. A block of 48 h does four of them for 48 USD: 480 less, by hour 48, or 144."""
    ends = {"2026-12-01": "2026-12-03", "2026-12-05": "2026-12-07"}
    window = {"start": f"{opens}T00:00:00+00:00", "end": f"{ends[opens]}T00:30:00+00:00"}
    found = answered([option(P4D, 12.0, usd_per_hour=1.0, window=window), option(P5EN, 2.0)], runs=8)
    assert (found.mix is not None) is mixed


def test_a_doubtful_measurement_and_an_old_price_are_mentioned():
    old = {"offer": "lambda/gpu_8x_h100_sxm5", "price": "on_demand"}
    found = answered([option(OWN, 12.0), option(old, 2.0)], deadline="2026-12-13")
    assert found.mix is not None
    assert found.headline[2].startswith("The price of Lambda, 8x H100 is out of date")
    assert "can be had is not known" in " ".join(found.notes)


def test_three_options_are_named_as_far_as_twenty_words_hold():
    """One machine of each does 6, 36 and 14 runs in 72 h: none does all 40."""
    options = [option(OWN, 12.0), option(P5EN, 2.0, quota=1), option(P4D, 5.0, quota=1)]
    found = answered(options, deadline="2026-12-03", runs=40)
    assert found.mix is not None
    assert len(found.mix.placements) == 3
    assert found.headline[0].startswith("Mix 3 options")
    assert len(found.headline[1].split()) <= 20


def test_recommend_puts_a_mix_on_the_calendar():
    found = advised(HALF, deadline="2026-12-13")
    assert [(placed.option, placed.runs, str(placed.end)) for placed in found.placements] == [
        ("dgx-station-v100", 26, "2026-12-13"), ("aws/p5en.48xlarge:us-east-1:on_demand", 24, "2026-12-02"),
    ]  # fmt: skip
    assert found.feasible
    assert found.headline[0].startswith("Mix 2")
    assert found.simulated is not None
    assert found.simulated.chance_deadline == 1.0
    why = {other.option: other.why_not for other in found.alternatives}
    assert str(why["dgx-station-v100"]).startswith("does 26 of them; alone: ends on 2026-12-25")
    assert str(why["aws/p5en.48xlarge:us-east-1:on_demand"]).startswith("does 24 of them; alone: 2.1 times the cost")
    assert {row.confidence for row in found.at_confidence} == {0.5, 0.8, 0.95}
    assert all(len(row.options) == 2 for row in found.at_confidence)


def test_a_mix_turns_where_another_option_costs_as_much():
    """p5en does 24 runs of 120 USD; p4d could do them in 4 h for 140 USD each. At 70 USD an hour p5en costs as much."""
    found = advised([*HALF, option(P4D, 4.0, usd_per_hour=35.0)], deadline="2026-12-13")
    turns = {(point.input, point.option, point.side): point for point in found.turning_points}
    price = turns["price", "aws/p5en.48xlarge:us-east-1:on_demand", "above"]
    assert price.today == 60
    assert price.at == pytest.approx(70, rel=0.03)
    assert price.then == "aws/p4d.24xlarge:us-east-1:on_demand"
    assert price.sentence.endswith("USD an hour (now 60), AWS p4d, 8x A100 takes its place.")
    days = turns["deadline", None, "above"]
    assert days.at - days.today == pytest.approx(14)
    assert days.sentence == "With a deadline 14 days later, DGX Station, 4x V100 does all trainings."


def test_the_chance_that_no_plan_reaches_has_no_price():
    wide = option(OWN, 12.0)
    wide["step"] |= {"low_seconds": 6.0, "high_seconds": 24.0}
    fixed = option(P5EN, 2.0, quota=1)
    fixed["step"] |= {"low_seconds": 0.5, "high_seconds": 8.0}
    found = advised([wide, fixed], deadline="2026-12-06", confidence=0.5)
    assert found.placements
    sure = {row.confidence: row for row in found.at_confidence}
    assert (sure[0.95].options, sure[0.95].usd, sure[0.95].recommended) == ((), None, None)


def test_a_doubtful_measurement_is_mentioned_before_the_option_alone():
    alone = each_alone(plan(HALF, deadline="2026-12-13"), bundled_catalog(), today=TODAY)
    chosen = best_mix(alone, bundled_catalog(), today=TODAY)
    assert chosen is not None
    first, *others = chosen.plan.placements
    doubtful = replace(chosen, plan=replace(chosen.plan, placements=(replace(first, doubtful=True), *others)))
    document = answered(HALF, deadline="2026-12-13", mix="never")
    found = with_mix(document, doubtful, alone.limits)
    assert found.headline[2] == f"But the measurement of {first.name} is doubtful: planner explain says why."
    assert with_mix(document, None, alone.limits) is document


def test_no_mix_is_looked_for_where_none_can_be_better():
    alone = each_alone(plan(HALF), bundled_catalog(), today=TODAY)
    assert best_mix(alone, bundled_catalog(), today=TODAY) is None


def test_the_cheaper_option_alone_stays_visible_beside_an_old_price():
    """Time decides: both do 3 of 6 runs. Lambda alone costs less than three runs of 120 USD on p5en beside its own."""
    old = {"offer": "lambda/gpu_8x_h100_sxm5", "price": "on_demand"}
    found = answered([option(old, 2.0), option(P5EN, 2.0)], runs=6, prefer="time", at_once=1)
    assert found.mix is not None
    assert found.headline[2].startswith("Alone and cheaper: Lambda, 8x H100, done in 12 hours, at most ")
    assert found.notes[0] == "The price of Lambda, 8x H100 is out of date: run planner prices refresh first"


def test_the_option_alone_is_a_note_where_a_doubt_takes_its_place():
    """p5en alone is dearer than the mix, so that the old price comes first; it is not left out."""
    old = {"offer": "lambda/gpu_8x_h100_sxm5", "price": "on_demand"}
    found = answered([option(OWN, 12.0), option(old, 2.0)], deadline="2026-12-13")
    assert found.headline[2].startswith("The price of Lambda, 8x H100 is out of date")
    assert found.notes[0].startswith("Alone: Lambda, 8x H100, done by 2026-12-05, at most ")


def test_waiting_is_counted_with_the_mix_that_is_recommended():
    """Both do 3 of 6 runs at once in 6 h. At 1,000 USD an hour these are 6,000, and the 12 h of one alone 12,000."""
    options = [option(P4D, 2.0, usd_per_hour=59.0, quota=1), option(P5EN, 2.0, quota=1)]
    found = answered(options, runs=6, waiting_usd_per_hour=1000.0)
    assert found.mix is not None
    [waiting] = [note for note in found.notes if note.startswith("waiting at")]
    assert (
        waiting
        == "waiting at 1,000 USD an hour counts 6,000 USD with the mix and 12,000 USD with AWS p4d, 8x A100 alone"
    )


def test_a_mix_is_compared_with_an_option_that_credits_pay():
    """Credits of 6,000 USD pay all 50 runs of 120 USD on p5en: nothing is cheaper, and the answer says so."""
    credit = Credit(name="grant", provider="aws", usd=6_000, expires=date(2027, 12, 31), source="their mail")
    catalog = bundled_catalog().model_copy(update={"credits": (credit,)})
    found = answer_plan(plan(HALF, deadline="2026-12-13"), catalog, today=TODAY)
    assert found.mix is None
    assert "all of it paid by credits" in found.headline[0]
