"""Notes on the rules that put an option before a cheaper one, and on what is paid ahead; figures by hand."""

from __future__ import annotations

from datetime import date

import pytest

from planner.decide.campaign.side_by_side import Hurry
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.row_notes import at_once_note
from planner.model.answer.option_estimate import CampaignOption
from planner.model.plan.campaign_limits import CampaignLimits, Prefer
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis, Unit
from tests.decide.recommend.by_hand import compared, option, quantity

DEADLINE = CampaignLimits(deadline=date(2027, 3, 31))
MODELLED = quantity(1.0, Unit.SAMPLES_PER_S).model_copy(update={"basis": Basis.MODELLED})
SLOW, FAST = option("slow", 60, 100), option("fast", 10, 190)
FIVE_TIMES = (
    "slow is cheaper, at most 100 USD, but takes 6 times as long: without a deadline, over 5 times faster for under "
    "2 times the cost comes first (campaign.waiting_usd_per_hour: 0 turns this off)"
)
TIE = "other costs a little less, at most 100 USD: among such ties"


def paid_ahead(name: str, usd: float, **changes: object) -> CampaignOption:
    return option(
        name, 10, usd, price_kind=PriceKind.SAVINGS_1Y, smallest_purchase_usd=quantity(usd, Unit.USD), **changes
    )


@pytest.mark.parametrize(
    ("options", "limits", "first", "note"),
    [
        pytest.param([SLOW, FAST], CampaignLimits(), "fast", FIVE_TIMES, id="60 hours against 10: over five times"),
        pytest.param(
            [option("mine", 60, 100, site="ours"), option("fast", 10, 140)], CampaignLimits(), "fast",
            "mine is cheaper, at most 100 USD of electricity, but takes 6 times as long: without a deadline, over 5 "
            "times faster for under 1.5 times the cost comes first (campaign.waiting_usd_per_hour: 0 turns this off)",
            id="an owned machine is replaced for under 1.5 times its cost",
        ),
        pytest.param([SLOW, FAST], DEADLINE, "slow", None, id="a deadline"),
        pytest.param([SLOW, FAST], CampaignLimits(waiting_usd_per_hour=0.0), "slow", None, id="waiting costs nothing"),
        pytest.param([option("slow", 49, 100), FAST], CampaignLimits(), "slow", None, id="4.9 times"),
        pytest.param([SLOW, option("fast", 10, 201)], CampaignLimits(), "slow", None, id="over twice the cost"),
        pytest.param(
            [option("other", 40, 100), option("first", 20, 109)], DEADLINE, "first",
            f"{TIE} the one twice as fast comes first", id="half the hours for 9 % more",
        ),
        pytest.param(
            [option("other", 10, 100), option("first", 11, 109, site="ours")], DEADLINE, "first",
            f"{TIE} your own comes first", id="an owned machine for 9 % more",
        ),
        pytest.param(
            [option("other", 11, 100, throughput=MODELLED), option("first", 12, 109)], DEADLINE, "first",
            f"{TIE} the measured one comes first", id="a measured one for 9 % more",
        ),
        pytest.param(
            [option("other", 10, 100, nodes=2), option("first", 9, 109)], DEADLINE, "first",
            f"{TIE} the one of fewer nodes comes first", id="one node against two",
        ),
        pytest.param(
            [option("other", 10, 100), option("first", 10.5, 40)], CampaignLimits(prefer=Prefer.TIME), "first",
            "other ends a little sooner: among such ties the one at half the cost comes first", id="5 % later at 40 %",
        ),
        pytest.param(
            [paid_ahead("term", 100), option("hours", 10, 60, spread=3.0)], DEADLINE, "hours",
            "term, at most 100 USD, is paid used or not: hours likely costs 60 USD against 100 USD, so it comes first",
            id="hours that likely cost 40 % less than a term",
        ),
        pytest.param([option("first", 10, 100), option("other", 9, 120)], DEADLINE, "first", None, id="the cheapest"),
    ],
)  # fmt: skip
def test_the_rule_that_decides_is_named(options, limits, first, note):
    answer = compared(options, limits)
    assert answer.recommended == first
    assert [said for said in answer.notes if "comes first" in said] == ([note] if note else [])


@pytest.mark.parametrize(
    ("hourly", "limits", "note"),
    [
        pytest.param(
            80, CampaignLimits(),
            "hours likely costs 80 USD: the term is cheaper only if the work takes over 1.25 times as long as "
            "estimated: measure first", id="100 / 80",
        ),
        pytest.param(
            99.8, CampaignLimits(),
            "hours likely costs 100 USD: the term is cheaper only if the work takes any longer than estimated: "
            "measure first", id="a factor that rounds to 1",
        ),
        pytest.param(
            80, CampaignLimits(prefer=Prefer.TIME),
            "hours likely costs 80 USD, but prefer: time puts the sooner one first", id="time decides",
        ),
    ],
)  # fmt: skip
def test_what_is_paid_ahead_names_what_makes_it_cheaper(hourly, limits, note):
    """The term of 100 USD is first: at the confidence the hours cost 1.9 ^ 0.51 = 1.39 times as much, or end later."""
    hours = option("hours", 30, hourly, spread=1.9, price_kind=PriceKind.ON_DEMAND)
    answer = compared([paid_ahead("term", 100), hours], limits)
    assert answer.recommended == "term"
    [said] = [said for said in answer.notes if said.startswith("hours likely")]
    assert said == note


@pytest.mark.parametrize(
    ("chance", "confidence", "kept"),
    [
        pytest.param(0.93, 0.9, "in time with 93 %", id="enough"),
        pytest.param(0.87, 0.9, "in time with 87 %, below the 90 % asked", id="too little"),
        pytest.param(0.899, 0.9, "in time with just under the 90 % asked", id="too little, alike in percent"),
    ],
)
def test_a_chance_below_the_confidence_is_said_to_be_so(chance, confidence, kept):
    note = at_once_note(
        [option("two", 10, 10, chance_deadline=chance)],
        [Hurry.DEADLINE],
        Phrases(CampaignLimits(confidence=confidence)),
    )
    assert note == f"to keep the deadline, several trainings run at once: two ({kept})"
