"""Rounding to cents: the lines of a bill add up to its total, to the cent, whatever they are."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.currency import Currency
from planner.quantity.cents import in_cents, in_local, to_cents, to_local

AMOUNTS = st.lists(st.floats(-1e12, 1e12, allow_nan=False), max_size=15)


@pytest.mark.parametrize(
    ("amounts", "cents", "total"),
    [
        pytest.param([1.0, 2.0], ["1.00", "2.00"], "3.00", id="whole dollars"),
        pytest.param(
            [0.333, 0.333, 0.334], ["0.33", "0.33", "0.34"], "1.00", id="thirds: the largest remainder rounds up"
        ),
        pytest.param([0.004, 0.004, 0.004], ["0.01", "0.00", "0.00"], "0.01", id="nothing each, a cent together"),
        pytest.param([0.005], ["0.01"], "0.01", id="half a cent rounds up"),
        pytest.param([10.0, -2.5049], ["10.00", "-2.50"], "7.50", id="a line that is taken off"),
        pytest.param([], [], "0.00", id="nothing"),
    ],
)
def test_by_hand(amounts: list[float], cents: list[str], total: str) -> None:
    found, whole = in_cents(amounts)
    assert [str(cent) for cent in found] == cents
    assert str(whole) == total


@given(AMOUNTS)
def test_the_lines_add_up_to_the_exact_sum_rounded_once(amounts: list[float]) -> None:
    found, total = in_cents(amounts)
    exact = sum((Decimal(repr(amount)) for amount in amounts), Decimal(0))
    assert sum(found, Decimal(0)) == total
    assert abs(total - exact) <= Decimal("0.005")


@given(AMOUNTS)
def test_no_line_is_a_cent_away_from_its_amount(amounts: list[float]) -> None:
    for cent, amount in zip(in_cents(amounts)[0], amounts, strict=True):
        assert abs(cent - Decimal(repr(amount))) < Decimal("0.01")
        assert cent == cent.quantize(Decimal("0.01"))


def test_an_amount_of_the_largest_plan_keeps_its_cents() -> None:
    assert to_cents(123_456_789_012.345) == Decimal("123456789012.35")


def money(code: str, per_usd: float) -> Currency:
    return Currency(code=code, per_usd=per_usd, as_of=date(2026, 11, 20), source="a bank")


@pytest.mark.parametrize(
    ("code", "per_usd", "usd", "amount"),
    [
        pytest.param("KRW", 1439.0, 10.01, "14404", id="a won has no cents: 14,404.39"),
        pytest.param("JPY", 150.5, 1.01, "152", id="nor has a yen: 152.005"),
        pytest.param("EUR", 0.9, 10.05, "9.05", id="half a cent rounds up: 9.045"),
        pytest.param("KWD", 0.307, 10.01, "3.073", id="a dinar has 1,000 fils: 3.07307"),
    ],
)
def test_an_amount_in_another_currency_has_that_currency_s_digits(
    code: str, per_usd: float, usd: float, amount: str
) -> None:
    assert str(to_local(usd, money(code, per_usd))) == amount


@given(
    st.lists(st.integers(-(10**9), 10**9), max_size=12), st.sampled_from(["KRW", "EUR", "KWD"]), st.floats(0.01, 9999)
)
def test_local_lines_add_up_to_the_local_total(cents: list[int], code: str, per_usd: float) -> None:
    currency = money(code, per_usd)
    total = float(Decimal(sum(cents)) / 100)
    assert sum(in_local([cent / 100 for cent in cents], currency), Decimal(0)) == to_local(total, currency)
