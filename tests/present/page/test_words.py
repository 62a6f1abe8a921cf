"""Numbers, durations and amounts on a page."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace

import pytest

from planner.model.currency import Currency
from planner.model.quantity import Basis, Quantity, Unit
from planner.present.page.words import MoneyFormat, Words

EN, KO = Words("en"), Words("ko")
WON = Currency(code="KRW", per_usd=1400, as_of=date(2026, 7, 1), source="a bank")


@pytest.mark.parametrize(
    ("hours", "text"),
    [(0.5, "30 minutes"), (1, "1 hours"), (14.6, "15 hours"), (47.9, "48 hours"), (49, "2 days"), (5160, "215 days")],
)
def test_durations_have_two_digits_below_a_hundred(hours: float, text: str) -> None:
    assert EN.hours(hours) == text


@pytest.mark.parametrize(
    ("usd", "text", "up"),
    [
        (0, "0 USD", "0 USD"),
        (1.911, "1.91 USD", "1.92 USD"),
        (4600, "4,600 USD", "4,600 USD"),
        (34_649, "34,600 USD", "34,700 USD"),
    ],
)
def test_amounts_have_three_digits_and_a_bound_is_never_below(usd: float, text: str, up: str) -> None:
    plan = SimpleNamespace(usd_confident=usd, local_confident=None)
    assert (MoneyFormat(EN).text(usd), MoneyFormat(EN).most(plan)) == (text, up)


def test_amounts_in_another_currency_stand_first_and_dollars_beside() -> None:
    money = MoneyFormat(EN, WON)
    assert money.text(100) == "140,000 KRW"
    assert money.text(10_000) == "14 million KRW"
    assert money.dollars_at_most(10_001) == "10,100 USD"


def test_ranges_have_two_digits() -> None:
    usd = Quantity(value=2, low=1.234, high=5678, unit=Unit.USD, basis=Basis.MODELLED, source="x")
    assert MoneyFormat(EN).range(usd) == "1.2-5,700 USD"
    assert MoneyFormat(EN).range(usd.model_copy(update={"low": 2.0, "high": 2.0})) == ""


def test_a_chance_is_never_certain() -> None:
    assert [EN.percent(share) for share in (0.0, 0.004, 0.5, 0.999, 1.0)] == ["1 %", "1 %", "50 %", "99 %", "99 %"]


def test_days_are_written_as_in_the_language() -> None:
    assert EN.day(date(2026, 7, 1)) == "Jul 1, 2026"
    assert KO.day(date(2026, 7, 1)) == "2026. 7. 1."
