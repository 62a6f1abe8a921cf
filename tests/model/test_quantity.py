"""A quantity refuses nonsense, and the wrong unit."""

from __future__ import annotations

import itertools

import pytest
from pydantic import ValidationError

from planner.errors import InputError
from planner.model.quantity import Basis, Quantity, Unit, weakest

GOOD = {"value": 2.0, "low": 1.0, "high": 3.0, "unit": "h", "basis": "measured", "source": "a stop watch"}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"value": 4.0}, id="value over its range"),
        pytest.param({"low": 2.5}, id="value under its range"),
        pytest.param({"value": float("nan")}, id="not a number"),
        pytest.param({"high": float("inf")}, id="infinite"),
        pytest.param({"unit": "fortnight"}, id="unknown unit"),
        pytest.param({"basis": "guessed"}, id="unknown basis"),
        pytest.param({"source": ""}, id="no source"),
        pytest.param({"colour": "red"}, id="unknown key"),
    ],
)
def test_nonsense_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Quantity.model_validate(GOOD | change)


def test_a_quantity_does_not_change() -> None:
    with pytest.raises(ValidationError):
        Quantity.model_validate(GOOD).value = 1.0  # type: ignore[misc]


def test_the_wrong_unit_names_the_source() -> None:
    with pytest.raises(InputError, match=r"a stop watch: a number in h stands where USD is needed"):
        Quantity.model_validate(GOOD).as_(Unit.USD)


@pytest.mark.parametrize("pair", list(itertools.combinations(Basis, 2)), ids=str)
def test_a_number_is_known_no_better_than_its_weakest_part(pair: tuple[Basis, Basis]) -> None:
    better, worse = pair
    assert weakest(better, worse) is weakest(worse, better) is worse
