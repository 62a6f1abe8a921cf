"""The solver stops when its effort is spent: at the same place each time, and never by the clock."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.decide.placement import milp
from planner.decide.placement.effort import Effort, EffortPrices
from planner.decide.placement.milp import Program, SolverStoppedError, SolverTooSlowError
from planner.errors import InputError


def market_split(*, rows: int = 3, columns: int = 24) -> Program:
    """Return a program that is hard for branch and bound.

    min sum of |r|, sum of a x + r = d:  x binary, a random below 100, d half of their sum. Source: Cornuejols and
    Dawande, A class of hard small 0-1 programs, INFORMS J. Comput. 11 (1999) 205.
    """
    draw, program = random.Random(4), Program()
    places = [program.column(upper=1.0, whole=True) for _ in range(columns)]
    for _ in range(rows):
        factors = [draw.randrange(100) for _ in places]
        above, below = program.column(cost=1.0), program.column(cost=1.0)
        terms = [*zip(places, map(float, factors), strict=True), (above, 1.0), (below, -1.0)]
        program.row(terms, low=sum(factors) // 2, high=sum(factors) // 2)
    return program


def test_a_program_that_stops_early_stops_at_the_same_place() -> None:
    found = []
    for _ in range(2):
        effort = Effort(0.05)
        optimum = market_split().solve(effort)
        found.append((optimum, effort.left))
    assert found[0] == found[1]
    assert effort.spent


def test_more_effort_finds_no_worse_a_plan_and_no_lower_a_bound() -> None:
    def cost(units: float) -> tuple[float, float]:
        program = market_split()
        optimum = program.solve(Effort(units))
        assert optimum is not None
        usd = sum(cost * value for cost, value in zip(program.costs, optimum.values, strict=True))
        return usd, optimum.bound

    (early, low), (late, high) = cost(0.05), cost(0.4)
    assert late <= early
    assert low <= high + 1e-9
    assert high <= late + 1e-9, "a bound lies below every solution"


def test_without_effort_it_says_that_it_stopped_and_not_that_no_solution_exists() -> None:
    """3 x + 5 y + 7 z = 40 in whole numbers has a solution, which takes the solver a round of cuts or a node."""
    program = Program()
    places = [program.column(cost=float(n), upper=9.0, whole=True) for n in (3, 2, 1)]
    program.row(zip(places, (3.0, 5.0, 7.0), strict=True), low=40.0, high=40.0)
    with pytest.raises(SolverStoppedError) as stopped:
        program.solve(Effort(-1.0))
    optimum = program.solve(Effort(1.0))
    assert optimum is not None
    assert stopped.value.bound <= optimum.bound + 1e-9


def test_the_guard_by_the_clock_is_an_error_and_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milp, "GUARD_SECONDS", 0.0)
    with pytest.raises(SolverTooSlowError, match="List fewer options") as error:
        market_split().solve(Effort(100.0))
    assert isinstance(error.value, InputError)


def test_too_many_iterations_of_a_program_without_whole_numbers_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milp, "MOST_ITERATIONS", 1)
    with pytest.raises(SolverStoppedError):
        market_split().solve(Effort(100.0), relaxed=True)


def test_the_price_of_each_step() -> None:
    """Computed by hand: 1,000 entries; one column of 8 values, 100 of 2,000, of which 1,000 are tried: 1e8 + 64."""
    prices = EffortPrices.of(entries=1000, widths=[8.0, *[2000.0] * 100])
    assert prices.cut_round == pytest.approx(1.5e-3 + 1e-9 * (1e8 + 64 - 5e7))
    assert prices.node == pytest.approx(3e-4 + 5e-5)
    assert prices.iteration == pytest.approx(6e-6)


@given(st.floats(0.0, 10.0), st.lists(st.floats(0.0, 3.0), max_size=5))
def test_lent_and_spent_effort_is_subtracted_from_the_lender(whole: float, spent: list[float]) -> None:
    effort = Effort(whole)
    for units in spent:
        effort.part(1.0).spend(units)
        effort.at_least(0.1).spend(units)
    assert effort.left == pytest.approx(whole - 2 * sum(spent))
    assert effort.part(1.0).left <= max(effort.left, 0.0) + 1.0
    assert effort.at_least(0.1).left >= 0.1
