"""The range that a decision counts a figure with."""

from __future__ import annotations

import pytest

from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.interval import doubted


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
