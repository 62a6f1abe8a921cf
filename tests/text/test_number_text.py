"""Numbers of people: 0-9 alone is read, and every other spelling is shown plainly."""

from __future__ import annotations

import math
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.text.number_text import plain_spelling, read_number, read_whole_number, with_plain_digits

DIGITS = st.text(st.characters(categories=["Nd"]), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\u0661\u0666", "16"),
        ("\uff18", "8"),
        ("\u0967\u096f.\u0968", "19.2"),
        ("1_000", "1000"),
        ("1,000", "1000"),
        ("1 000 000", "1000000"),
        ("\u06f1\u066b\u06f5", "1.5"),
        ("\u22125", "-5"),
        ("16", None),
        ("1,5", None),
        ("ten", None),
        ("", None),
        ("1__0", None),
    ],
)
def test_the_plain_spelling(text, plain):
    assert plain_spelling(text) == plain


@pytest.mark.parametrize("text", ["nan", "inf", "Infinity", "1e999", "1_0", "\u0661", "", "0x10", "1e", "one", "--1"])
def test_what_is_no_number(text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        read_number(text)
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        read_whole_number(text)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**17), 10**17))
def test_a_number_that_python_writes_is_read_back(number, whole):
    assert read_number(repr(number)) == number
    assert read_whole_number(str(whole)) == whole


@given(DIGITS)
def test_digits_of_any_script_have_the_value_of_their_names(text):
    expected = "".join(str(unicodedata.digit(digit)) for digit in text)
    assert with_plain_digits(text) == expected
    assert int(expected) == int(text)  # as Python reads them
    if not text.isascii():
        with pytest.raises(ValueError, match=text):
            read_whole_number(text)
        assert math.isclose(float(plain_spelling(text) or "nan"), int(text))
