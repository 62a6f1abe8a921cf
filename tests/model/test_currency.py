"""Currency codes: those of ISO 4217, and what a person may have meant by another word."""

from __future__ import annotations

from datetime import date

import pytest
from pydantic import ValidationError

from planner.model.currency import MINOR_DIGITS, NO_DIGITS, THREE_DIGITS, TWO_DIGITS, Currency


def currency(code: str) -> Currency:
    return Currency(code=code, per_usd=2.0, as_of=date(2026, 11, 20), source="a bank")


def test_every_code_stands_once():
    codes = f"{TWO_DIGITS} {NO_DIGITS} {THREE_DIGITS}".split()
    assert len(codes) == len(set(codes)) == len(MINOR_DIGITS)
    assert all(len(code) == 3 and code.isascii() and code.isupper() for code in codes)


@pytest.mark.parametrize("code", ["EUR", "KRW", "JPY", "CHF", "XCG", "KWD"])
def test_a_currency_of_the_standard(code):
    assert currency(code).code == code


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param("krw", "KRW", id="small letters"),
        pytest.param("WON", "KRW", id="its name"),
        pytest.param("RMB", "CNY", id="its common abbreviation"),
        pytest.param("BGN", "EUR", id="withdrawn: Bulgaria pays in euro since 2026"),
        pytest.param("EUO", "EUR", id="a slip of the finger"),
    ],
)
def test_another_word_is_refused_and_the_code_is_named(written, meant):
    with pytest.raises(
        ValidationError, match=f"'{written}' is not a currency code of ISO 4217.*did you mean .*{meant}"
    ):
        currency(written)


@pytest.mark.parametrize("written", ["XAU", "XTS", "CLF", "1234567", "", "QQQ"])
def test_what_nobody_is_paid_in_is_refused(written):
    with pytest.raises(ValidationError, match="is not a currency code of ISO 4217"):
        currency(written)
