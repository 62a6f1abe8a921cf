"""Sentences of turning points: values that read alike, one training, and the plan's currency."""

from __future__ import annotations

from datetime import date

import pytest

from planner.decide.advice.case import Decision
from planner.decide.advice.inputs import MovedInput
from planner.decide.advice.suggested import about_text
from planner.decide.advice.turning import turning_sentence
from planner.decide.recommend.wording import shares_apart
from planner.model.answer.option_estimate import CampaignOption
from planner.model.currency import Currency
from planner.quantity.interval import Interval
from tests.decide.recommend.by_hand import option

EUR = Currency(code="EUR", per_usd=0.5, as_of=date(2026, 11, 1), source="a bank")
PC = option("PC", 10, 10)


def moved(name: str, today: float, unit: str, *, of: CampaignOption | None = None, whole: bool = False) -> MovedInput:
    return MovedInput(name, of, unit, Interval.exact(today), lambda _: (), whole=whole)


@pytest.mark.parametrize(
    ("given", "at", "currency", "sentence"),
    [
        pytest.param(moved("price", 30, "", of=PC), 33, None, "If PC costs above 33 USD an hour (now 30), PC wins.",
                     id="a price"),
        pytest.param(moved("price", 30, "", of=PC), 30.02, None, "If PC costs just above its 30 USD an hour, PC wins.",
                     id="a price that reads as today's"),
        pytest.param(moved("price", 30, "", of=PC), 29.9, None, "If PC costs just below its 30 USD an hour, PC wins.",
                     id="a lower one"),
        pytest.param(moved("speed", 2.0, "", of=PC), 2.01, None, "If PC is any faster than estimated, PC wins.",
                     id="a factor of 1"),
        pytest.param(moved("speed", 2.0, "", of=PC), 4.0, None, "If PC is over 2 times as fast as estimated, PC wins.",
                     id="a factor"),
        pytest.param(moved("electricity", 0.2, "USD/kWh"), 0.4, None, "PC wins above 0.4 USD a kWh (now 0.2).",
                     id="a kWh"),
        pytest.param(moved("electricity", 0.2, "USD/kWh"), 0.4, EUR, "PC wins above 0.2 EUR a kWh (now 0.1).",
                     id="a kWh in euros"),
        pytest.param(moved("exchange rate", 1450, "KRW a USD"), 1451, None,
                     "PC wins just above the 1,450 KRW a USD of now.",
                     id="a rate that reads as today's"),
        pytest.param(moved("trainings", 7, "trainings", whole=True), 1, None, "PC wins up to 1 training (now 7).",
                     id="one training"),
        pytest.param(moved("trainings", 7, "trainings", whole=True), 9, None, "PC wins from 9 trainings (now 7).",
                     id="more trainings"),
    ],
)  # fmt: skip
def test_a_turning_point_is_told_apart_from_today(given, at, currency, sentence):
    assert turning_sentence(given, at, Decision(PC, recommended=True), {"PC": "PC"}, currency) == sentence


@pytest.mark.parametrize(
    ("one", "other", "written"),
    [
        pytest.param(0.0042, 0.022, ("0.42 %", "2.2 %"), id="two digits"),
        pytest.param(0.004213, 0.004196, ("0.421 %", "0.42 %"), id="three digits tell them apart"),
        pytest.param(0.123, 0.1234, ("12.3 %", "12.34 %"), id="four digits do"),
        pytest.param(0.42, 0.42, ("42 %", "42 %"), id="alike"),
    ],
)
def test_two_shares_are_told_apart(one, other, written):
    assert shares_apart(one, other) == written


@pytest.mark.parametrize(
    ("usd", "currency", "written"),
    [
        pytest.param(157.0, None, "about 157 USD", id="dollars"),
        pytest.param(0.9, None, "under 1 USD", id="cents"),
        pytest.param(157.0, EUR, "about 78 EUR", id="euros"),
        pytest.param(1.9, EUR, "under 1 EUR", id="euro cents"),
    ],
)
def test_the_price_of_a_measurement_is_in_the_plan_s_currency(usd, currency, written):
    assert about_text(usd, currency) == written
