"""Ranges combine as independent lognormal errors do."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.quantity.interval import Interval

values = st.floats(1e-3, 1e6)
factors = st.floats(1.0, 10.0)


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    value = draw(values)
    return Interval(value, value / draw(factors), value * draw(factors))


def test_two_doubts_of_a_factor_of_two_make_one_of_two_to_the_root_of_two() -> None:
    product = Interval(10, 5, 20).times(Interval(3, 1.5, 6))
    assert product.value == 30
    assert product.high == pytest.approx(30 * 2 ** math.sqrt(2))
    assert product.low == pytest.approx(30 / 2 ** math.sqrt(2))


@given(intervals(), values)
def test_an_exact_factor_scales_the_range_and_nothing_else(interval: Interval, exact: float) -> None:
    assert interval.times(Interval.exact(exact)) == pytest.approx(interval.scaled(exact))


@given(intervals(), intervals())
def test_the_order_of_factors_does_not_matter(interval: Interval, other: Interval) -> None:
    assert interval.times(other) == pytest.approx(other.times(interval))


@given(intervals())
def test_inverting_twice_gives_the_same(interval: Interval) -> None:
    assert interval.inverse().inverse() == pytest.approx(interval)


@given(intervals(), intervals())
def test_a_product_is_no_surer_than_either_factor(interval: Interval, other: Interval) -> None:
    product = interval.times(other)
    assert product.high / product.value >= max(interval.high / interval.value, other.high / other.value) * (1 - 1e-9)
    assert product.low <= product.value <= product.high


@given(intervals(), st.floats(0.0, 0.9))
def test_widening_never_narrows(interval: Interval, fraction: float) -> None:
    wide = interval.widened_to(fraction)
    assert wide.low <= interval.low
    assert wide.high >= interval.high
    assert wide.high >= wide.value * (1 + fraction) * (1 - 1e-12)


def test_nothing_times_anything_is_nothing() -> None:
    assert Interval.exact(0.0).times(Interval(3, 1, 9)) == Interval.exact(0.0)


def test_a_range_that_begins_at_nothing() -> None:
    """ln(high / value): sqrt(ln(2)^2 + ln(2)^2) upwards; downwards there is no end."""
    product = Interval(1, 0, 2).times(Interval(3, 1.5, 6))
    assert product == pytest.approx((3, 0, 3 * math.exp(math.sqrt(2) * math.log(2))))
    assert Interval(2, 0, 4).inverse() == pytest.approx((0.5, 0.25, 5e5))
