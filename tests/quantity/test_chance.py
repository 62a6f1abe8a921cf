"""Chances under a log-normal range, against tables of the normal distribution and their own inverse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.chance import chance_below, doubted, stays_under
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
