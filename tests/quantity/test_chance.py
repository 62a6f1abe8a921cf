"""The range that a decision counts a figure with."""

from __future__ import annotations

import pytest

from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.chance import doubted


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
<<<<<<< HEAD
=======


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
>>>>>>> main
