"""Chances under a log-normal range, against tables of the normal distribution and their own inverse."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.chance import NORMAL, chance_below, chance_of_both, doubted, stays_under
from planner.quantity.interval import Interval


@pytest.mark.parametrize(
    ("interval", "limit", "chance"),
    [
        pytest.param(Interval(100, 50, 200), 100, 0.5, id="the value is the median"),
        pytest.param(Interval(100, 50, 200), 200, 0.95, id="above the upper end of a 90 % range lie 5 %"),
        pytest.param(Interval(100, 50, 200), 50, 0.05, id="below the lower end as many"),
        pytest.param(Interval(100, 90, 400), 400, 0.95, id="each side has a width of its own"),
        pytest.param(Interval(100, 90, 400), 90, 0.05, id="the lower side too"),
        pytest.param(Interval(100, 50, 200), 142.585, 0.8, id="0.8416 deviations of ln 2 / 1.6449"),
        pytest.param(Interval(100, 100, 100), 100, 1.0, id="exact, and within"),
        pytest.param(Interval(100, 100, 100), 99.9, 0.0, id="exact, and over"),
        pytest.param(Interval(0, 0, 0), 0, 1.0, id="nothing costs at most nothing"),
        pytest.param(Interval(1, 0.5, 2), 0, 0.0, id="something costs more than nothing"),
        pytest.param(Interval(0, 0, 5), 1, 1.0, id="most likely nothing"),
    ],
)
def test_by_hand(interval: Interval, limit: float, chance: float) -> None:
    assert chance_below(interval, limit) == pytest.approx(chance, abs=1e-4)


@given(st.floats(0.01, 1e6), st.floats(1.01, 50), st.floats(1.01, 50), st.floats(0.01, 0.99))
def test_the_inverse(value: float, down: float, up: float, chance: float) -> None:
    interval = Interval(value, value / down, value * up)
    assert chance_below(interval, stays_under(interval, chance)) == pytest.approx(chance, abs=1e-6)


@given(st.floats(0.01, 1e6), st.floats(1, 50), st.lists(st.floats(0.001, 1e7), min_size=2, max_size=2))
def test_a_higher_limit_is_never_less_likely_kept(value: float, factor: float, limits: list[float]) -> None:
    interval = Interval.within_factor(value, factor)
    assert chance_below(interval, min(limits)) <= chance_below(interval, max(limits))


@pytest.mark.parametrize(
    ("basis", "low", "expected"),
    [
        pytest.param(Basis.MEASURED, 10, (10, 10), id="measured exactly"),
        pytest.param(Basis.QUOTED, 10, (10, 10), id="quoted exactly"),
        pytest.param(Basis.ASSUMED, 10, (10 / 1.5, 15), id="assumed without a range: a factor of 1.5"),
        pytest.param(Basis.MODELLED, 10, (10 / 1.5, 15), id="modelled without a range"),
        pytest.param(Basis.ASSUMED, 9, (9, 10), id="assumed with a range: its own"),
    ],
)
def test_what_a_guess_counts_as(basis: Basis, low: float, expected: tuple[float, float]) -> None:
    range_ = doubted(Quantity(value=10, low=low, high=10, unit=Unit.HOURS, basis=basis, source="by hand"))
    assert (range_.low, range_.high) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("first", "other", "correlation", "both"),
    [
        pytest.param(0.5, 0.5, 0.0, 1 / 4, id="independent: the product"),
        pytest.param(0.5, 0.5, 0.5, 1 / 3, id="1/4 + asin(1/2) / 2 pi"),
        pytest.param(0.5, 0.5, math.sqrt(0.5), 3 / 8, id="1/4 + asin(sqrt 1/2) / 2 pi"),
        pytest.param(0.8, 0.9, 1.0, 0.8, id="one cause: the smaller"),
        pytest.param(0.8, 0.9, 0.0, 0.72, id="two causes: 0.8 x 0.9"),
        pytest.param(1.0, 0.7, 0.3, 0.7, id="one is certain"),
        pytest.param(0.0, 0.7, 0.3, 0.0, id="one never holds"),
    ],
)
def test_both_by_hand(first: float, other: float, correlation: float, both: float) -> None:
    assert chance_of_both(first, other, correlation=correlation) == pytest.approx(both, abs=1e-9)


@given(st.floats(0.02, 0.98), st.floats(0.02, 0.98), st.floats(0.0, 0.999))
def test_both_is_the_integral_over_the_one_of_the_other(first: float, other: float, correlation: float) -> None:
    """P = integral over u from 0 to p of Phi((y - r z(u)) / sqrt(1 - r^2)): the second method, by 4,000 midpoints."""
    limit, left = NORMAL.inv_cdf(other), math.sqrt(1 - correlation**2)
    count = 4000
    middles = (first * (step + 0.5) / count for step in range(count))
    total = sum(NORMAL.cdf((limit - correlation * NORMAL.inv_cdf(u)) / left) for u in middles) * first / count
    assert chance_of_both(first, other, correlation=correlation) == pytest.approx(total, abs=2e-4)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0, 1), st.floats(0, 0.01))
def test_both_is_no_surer_than_either_and_grows_with_each(first, other, correlation, more) -> None:
    both = chance_of_both(first, other, correlation=correlation)
    assert max(0.0, first + other - 1) - 1e-5 <= both <= min(first, other)
    assert chance_of_both(min(1.0, first + more), other, correlation=correlation) >= both - 1e-5
