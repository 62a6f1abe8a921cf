"""Tariffs: what a steady load pays, and that every way to say it agrees."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from planner.cost.power.tariff import DAYS_OF_MONTHS, demand_price, energy_price, month_per_kwh, year_per_kwh
from planner.model.currency import Currency
from planner.model.owning.tariff import Tariff
from tests.bundled import bundled_catalog

ALL = list(range(24))
MONTHS = list(range(1, 13))


def tariff(**changes: Any) -> Tariff:
    fields: dict[str, Any] = {"schema_version": 1, "id": "t", "name": "T", "currency": "USD", "source": "me"}
    return Tariff.model_validate(fields | {"as_of": date(2026, 11, 1)} | changes)


def period(per_kwh: float, months: list[int], hours: list[int]) -> dict[str, Any]:
    return {"name": "p", "months": months, "hours": hours, "per_kwh": per_kwh}


def two_halves(night: float, day: float) -> Tariff:
    return tariff(periods=[period(night, MONTHS, ALL[:12]), period(day, MONTHS, ALL[12:])])


def month_bill(terms: Tariff, *, month: int, kw: float, contracted_kw: float) -> float:
    """kW x 24 x days x price of a kWh + contracted kW x demand charge."""
    energy = kw * 24 * DAYS_OF_MONTHS[month - 1] * month_per_kwh(terms, month=month)
    return energy + contracted_kw * terms.demand_per_kw_month


def test_a_mean_year_has_365_and_a_quarter_days():
    assert sum(DAYS_OF_MONTHS) == 365.25


@given(price=st.floats(0, 10))
def test_the_same_price_at_every_hour_is_a_flat_tariff(price):
    flat = tariff(per_kwh=price)
    assert year_per_kwh(two_halves(price, price)) == pytest.approx(year_per_kwh(flat))


@given(night=st.floats(0, 1), day=st.floats(0, 1), kw=st.floats(0.01, 100), contracted=st.floats(0, 200))
def test_twelve_monthly_bills_are_the_year_s_hours_at_the_mean_price(night, day, kw, contracted):
    terms = two_halves(night, day).model_copy(update={"demand_per_kw_month": 5.0, "surcharge_per_kwh": 0.01})
    bills = sum(month_bill(terms, month=month, kw=kw, contracted_kw=contracted) for month in MONTHS)
    assert bills == pytest.approx(kw * 8766 * year_per_kwh(terms) + 12 * 5.0 * contracted)


@given(price=st.floats(0, 10), surcharge=st.floats(0, 1), per_usd=st.floats(0.01, 2000))
def test_a_flat_price_is_converted_and_keeps_to_its_range(price, surcharge, per_usd):
    terms = tariff(currency="EUR", per_usd=per_usd, per_kwh=price, surcharge_per_kwh=surcharge)
    found = energy_price(terms)
    assert found.value == pytest.approx((price + surcharge) / per_usd)
    assert found.low <= found.value <= found.high


def test_a_month_counts_by_its_days():
    """July at 2, the rest at 1: 31 of 365.25 days."""
    terms = tariff(periods=[period(2, [7], ALL), period(1, [month for month in MONTHS if month != 7], ALL)])
    assert year_per_kwh(terms) == pytest.approx(1 + 31 / 365.25)


def test_the_korean_tariff_by_hand():
    """Hours of each class x their prices: (10 x off-peak + 8 x mid + 6 x peak) / 24, by season; 14 KRW on top."""
    summer = (10 * 90.8 + 8 * 116.6 + 6 * 150.1) / 24
    between = (10 * 90.8 + 8 * 95.6 + 6 * 114.8) / 24
    winter = (10 * 98.2 + 8 * 115.1 + 6 * 144.5) / 24
    days = (92, 153, 120.25)
    krw = (summer * days[0] + between * days[1] + winter * days[2]) / 365.25 + 14
    found = bundled_catalog().tariffs["kr-industrial-a2-hv"]
    assert year_per_kwh(found) == pytest.approx(krw)
    assert energy_price(found).value == pytest.approx(krw / 1439)
    assert demand_price(found).value == pytest.approx(7470 / 1439)


def test_the_plan_s_rate_takes_the_place_of_the_tariff_s_for_the_same_currency_alone():
    korean = bundled_catalog().tariffs["kr-industrial-a2-hv"]
    rate = {"per_usd": 1000.0, "as_of": date(2026, 11, 1), "source": "my bank"}
    assert energy_price(korean, Currency(code="KRW", **rate)).value == pytest.approx(year_per_kwh(korean) / 1000)
    assert energy_price(korean, Currency(code="EUR", **rate)) == energy_price(korean)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({}, "either per_kwh or periods", id="no price"),
        pytest.param(
            {"per_kwh": 1.0, "periods": [period(1, MONTHS, ALL)]}, "either per_kwh or periods", id="two prices"
        ),
        pytest.param({"per_kwh": 1.0, "currency": "KRW"}, "per_usd", id="a currency without a rate"),
        pytest.param({"per_kwh": 1.0, "per_usd": 1400}, "per_usd", id="a rate for dollars"),
        pytest.param({"periods": [period(1, MONTHS[:11], ALL)]}, "month 12, hour 0 is covered 0 times", id="a gap"),
        pytest.param(
            {"periods": [period(1, MONTHS, ALL), period(2, [3], [5])]},
            "month 3, hour 5 is covered 2 times",
            id="an hour with two prices",
        ),
        pytest.param({"periods": [period(1, [13], ALL)]}, "12", id="a thirteenth month"),
        pytest.param({"periods": [period(-1, MONTHS, ALL)]}, "0", id="a negative price"),
    ],
)
def test_a_tariff_that_contradicts_itself_is_refused(changes, words):
    with pytest.raises(ValidationError, match=words):
        tariff(**changes)
