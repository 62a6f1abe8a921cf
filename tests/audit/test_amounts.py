"""Numbers and units in the spelling of documents."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from planner.audit.claims.units import WANTED, ends_in, nearest, unit_of
from planner.model.answer.audit import Finding
from planner.model.evidence.amount import Amount, Stated, number_of, read_count

STATED: TypeAdapter[Amount] = TypeAdapter(Stated)


def read(unit: str, wanted: str, **told: Any) -> list[float]:
    """Return both ends of one amount of a unit."""
    found = ends_in(Amount(value=1, unit=unit), wanted, "it", **told)
    assert not isinstance(found, Finding), found.says
    return list(found)


@pytest.mark.parametrize(
    ("text", "low", "high", "unit"),
    [
        ("1,979 TFLOPS", 1979, 1979, "TFLOPS"),
        ("83.5시간", 83.5, 83.5, "시간"),
        ("83,5 Stunden", 83.5, 83.5, "Stunden"),
        ("1 979 TFLOPS", 1979, 1979, "TFLOPS"),
        ("1.234.567,5 EUR", 1234567.5, 1234567.5, "EUR"),
        ("~$19-25/h", 19, 25, "$/h"),
        ("7~10일", 7, 10, "일"),
        ("7 to 10 days", 7, 10, "days"),
        ("10-7 days", 7, 10, "days"),
        ("약 5만원", 5e4, 5e4, "원"),
        ("3천만원", 3e7, 3e7, "원"),
        ("1.3M GPU hours", 1.3e6, 1.3e6, "GPU hours"),
        ("3-5M tokens", 3e6, 5e6, "tokens"),
        ("100+ TFLOPS", 100, 100, "TFLOPS"),
        ("8 TB", 8, 8, "TB"),
        ("5 m", 5, 5, "m"),
        ("-5 h", -5, -5, "h"),
        ("1e-3 s", 1e-3, 1e-3, "s"),
        ("0,125 s", 0.125, 0.125, "s"),
        (42, 42, 42, ""),
    ],
)
def test_an_amount_is_read_as_it_is_printed(text, low, high, unit):
    amount = STATED.validate_python(text)
    assert list(amount.ends) == pytest.approx([low, high])
    assert amount.unit == unit


@pytest.mark.parametrize("nothing", [None, True, [], "", "many", "9" * 400])
def test_what_is_no_amount_is_refused(nothing):
    with pytest.raises(ValidationError):
        STATED.validate_python(nothing)


@pytest.mark.parametrize(
    ("text", "count"),
    [("8B", 8e9), ("8.03 billion", 8.03e9), ("80억", 8e9), ("7b", 7e9), ("1.5T", 1.5e12), ("15조", 1.5e13), (7, 7)],
)
def test_a_count_is_read_as_it_is_printed(text, count):
    assert read_count(text) == pytest.approx(count)


@pytest.mark.parametrize("text", ["8 GB", "3-5B", "many"])
def test_what_is_no_count_is_refused(text):
    with pytest.raises(ValueError, match="must be"):
        read_count(text)


@given(st.integers(0, 10**12), st.sampled_from([",", " ", "\u202f", "."]))
def test_groups_of_thousands_are_read_in_any_custom(number, separator):
    grouped = f"{number:,}".replace(",", separator)
    one_point = separator == "." and grouped.count(".") == 1  # the decimals of English and Korean
    assert number_of(grouped) == (pytest.approx(number / 1000) if one_point else number)


@pytest.mark.parametrize(
    ("unit", "wanted", "factor"),
    [
        ("TFLOP/s", "TFLOP/s", 1), ("GFLOPS", "TFLOP/s", 1e-3), ("ExaFLOPS", "TFLOP/s", 1e6), ("TOPS", "TFLOP/s", 1),
        ("FLOPs", "TFLOP/s", 1e-12), ("테라플롭스", "TFLOP/s", 1), ("TFLOPS/s", "TFLOP/s", 1),
        ("GB", "GB", 1), ("gb", "GB", 1), ("GiB", "GB", 1.073741824), ("TiB", "GB", 1099.511627776), ("MB", "GB", 1e-3),
        ("기가", "GB", 1), ("GB/s", "GB/s", 1), ("Gb/s", "GB/s", 1 / 8), ("Gbps", "Gbit/s", 1), ("GB/s", "Gbit/s", 8),
        ("kW", "W", 1e3), ("와트", "W", 1), ("MW", "W", 1e6), ("일", "s", 86_400), ("Tage", "s", 86_400),
        ("ms", "s", 1e-3), ("weeks", "s", 604_800),
        ("USD/h", "USD/h", 1), ("$/hr", "USD/h", 1), ("/h", "USD/h", 1), ("USD per day", "USD/h", 1 / 24),
        ("달러/시간", "USD/h", 1), ("%", "", 0.01), ("배 느림", "", 1), ("세대", "", 1),
    ],
)  # fmt: skip
def test_a_unit_is_read_as_it_is_printed(unit, wanted, factor):
    assert read(unit, wanted) == pytest.approx([factor, factor])


@pytest.mark.parametrize(
    ("unit", "wanted", "expected"),
    [
        ("GPU hours", "s", 3600 / 8), ("H100-hours", "s", 3600 / 8), ("GPU시간", "s", 3600 / 8),
        ("USD/GPU-h", "USD/h", 8), ("$/GPU/h", "USD/h", 8), ("USD per GPU hour", "USD/h", 8),
    ],
)  # fmt: skip
def test_a_figure_for_one_accelerator_is_that_of_all(unit, wanted, expected):
    assert read(unit, wanted, devices=8) == pytest.approx([expected, expected])


@pytest.mark.parametrize(
    ("unit", "wanted", "code"),
    [
        ("", "GB", "unit_missing"), ("bananas", "GB", "unit_not_known"), ("TFLOPS", "GB", "unit_not_known"),
        ("원/시간", "USD/h", "unit_not_known"), ("GPU-h", "s", "unit_not_known"),
        ("USD/node-h", "USD/h", "unit_not_known"),
        ("i", "GB", "unit_not_known"), ("xyzflops", "TFLOP/s", "unit_not_known"),
    ],
)  # fmt: skip
def test_what_is_no_such_unit_is_said(unit, wanted, code):
    found = ends_in(Amount(value=1, unit=unit), wanted, "it")
    assert isinstance(found, Finding)
    assert found.code == code


def test_a_price_of_a_node_is_one_where_that_is_asked_for():
    assert read("USD/node-h", "USD/h", of_a_node=True) == pytest.approx([1, 1])


def test_units_multiply_and_divide():
    energy, power, hour = (unit_of(text) for text in ("kWh", "kW", "h"))
    assert energy is not None
    assert power is not None
    assert hour is not None
    assert power.times(hour) == energy
    assert energy.times(hour, -1) == power


@given(st.text(max_size=30), st.sampled_from(list(WANTED)))
def test_no_text_breaks_the_reading_of_a_unit(text, wanted):
    found = ends_in(Amount(value=1, unit=text), wanted, "it", devices=3)
    assert isinstance(found, Finding | tuple)


@pytest.mark.parametrize(("known", "best"), [(1, 7), (8, 8), (12, 10)])
def test_a_range_is_held_against_a_figure_at_its_nearest(known, best):
    assert nearest((7, 10), known) == best
