"""Figures with as many digits as a person needs."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.quantity import Basis, Quantity, Unit
from planner.present.short_figures import money_scale, short_text, time_scale


def quantity(low: float, value: float, high: float, unit: Unit = Unit.HOURS) -> Quantity:
    return Quantity(
        value=value, low=low, high=high, unit=unit, basis=Basis.MODELLED, source="test", as_of=date(2026, 11, 1)
    )


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (15469, 3, "15,500"), (0.54286, 3, "0.543"), (118.1, 3, "118"), (9.655, 2, "9.7"), (9.96, 2, "10"),
        (83.2, 2, "83"), (99.96, 3, "100"), (0, 2, "0"), (-1234, 2, "-1,200"), (0.000123, 2, "<0.001"),
    ],
)  # fmt: skip
def test_digits_that_count(value, digits, text):
    assert short_text(value, digits=digits) == text


@given(st.floats(0.1, 1e9), st.integers(2, 3))
def test_a_short_number_is_within_half_a_unit_of_its_last_digit(value, digits):
    written = float(short_text(value, digits=digits).replace(",", ""))
    assert abs(written - value) <= 0.5001 * value / 10 ** (digits - 1)


@pytest.mark.parametrize(
    ("low", "value", "high", "text"),
    [
        pytest.param(112 * 24, 118.1 * 24, 124 * 24, "118 (112-124)", id="close ends differ in the third digit"),
        pytest.param(33 * 24, 83 * 24, 207 * 24, "83 (33-210)", id="wide ranges need no third digit"),
        pytest.param(48, 48, 48, "2.00 ", id="what has no range has no brackets"),
    ],
)
def test_a_time_in_days_with_its_range(low, value, high, text):
    days = time_scale([value])
    assert days.title == "days"
    assert f"{days.value(quantity(low, value, high))} {days.interval(quantity(low, value, high))}" == text


def test_money_with_its_range():
    usd = money_scale([8539.78, 0.001], "USD")
    assert usd.title == "USD"
    assert usd.value(quantity(3422, 8539.78, 21447, Unit.USD)) == "8,540"
    assert usd.interval(quantity(3422, 8539.78, 21447, Unit.USD)) == "(3,400-21,000)"
    assert usd.number(0.001, digits=2) == "<0.01"


def test_won_are_written_in_millions():
    """8,540 USD at 1,439 won are 12.289 million; 543 USD are 0.781."""
    won = money_scale([8540 * 1439, 543 * 1439], "KRW")
    assert (won.title, won.number(8540 * 1439, digits=3), won.number(543 * 1439, digits=3)) == (
        "million KRW", "12.3", "0.78",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("hours", "unit"), [([0.2, 0.5], "minutes"), ([3, 30, 47], "hours"), ([5, 60, 900], "days"), ([], "hours")]
)
def test_one_unit_of_time_for_a_table(hours, unit):
    assert time_scale(hours).title == unit


@given(st.floats(100, 1e6), st.floats(1, 3), st.floats(1, 3))
def test_a_written_range_holds_the_written_value(value, below, above):
    usd, amount = money_scale([value], "USD"), quantity(value / below, value, value * above, Unit.USD)
    ends, written = usd.interval(amount).strip("()").replace(",", ""), float(usd.value(amount).replace(",", ""))
    low, high = map(float, ends.split("-")) if ends else (written, written)
    assert low <= written <= high
