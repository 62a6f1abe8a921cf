"""Plans of many options from a bound and rounding, compared with the optimum and the limits."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.decide.placement import large, solve
from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Bin, Group, Instance, Objective, Option, RunsOnLane, Solution, Way
from planner.decide.placement.large import rounded_plan, solve_large
from planner.decide.placement.milp import SolverStoppedError
from planner.decide.placement.small import solve_small
from tests.decide.placement.every_assignment import outcome

ASKED = 60.0


def value(found: Solution, objective: Objective) -> float:
    return found.to_pay if objective is Objective.COST else found.hours


def assigned(found: Solution) -> tuple[tuple[int, int], ...]:
    return tuple((runs.way, runs.lane) for runs in found.placed for _ in range(runs.runs))


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Draw up to sixteen runs in three groups on eight options."""
    places = range(8)
    hours = [draw(st.floats(1.0, 6.0)) for _ in places]
    usd = [draw(st.floats(0.5, 9.0)) for _ in places]
    work = [1.0, 1.7, 2.4]
    by_term = draw(st.booleans())
    return Instance(
        groups=tuple(Group(draw(st.integers(1, 6))) for _ in work),
        options=tuple(Option(fixed_usd=draw(st.sampled_from([0.0, 0.0, 2.0, 30.0]))) for _ in places),
        bins=tuple(
            Bin(
                lanes=draw(st.integers(1, 2)),
                opens=draw(st.sampled_from([0.0, 0.0, 4.0])),
                lane_usd=draw(st.sampled_from([0.0, 0.0, 7.0])),
                usd_per_hour=usd[place] if by_term and place == 0 else 0.0,
            )
            for place in places
        ),
        ways=tuple(
            Way(group, place, place, hours=each * hours[place], usd=each * usd[place], billed_hours=each * hours[place])
            for group, each in enumerate(work)
            for place in places
        ),
        pools={},
        deadline=draw(st.sampled_from([math.inf, 40.0, 12.0, 1.0])),
        budget=draw(st.sampled_from([math.inf, math.inf, 60.0])),
    )


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(instance=instances())
@pytest.mark.parametrize("objective", [Objective.COST, Objective.TIME])
def test_its_bound_is_below_the_optimum_and_its_plan_within_the_stated_gap(
    objective: Objective, instance: Instance
) -> None:
    try:
        best = solve_small(instance, objective, Effort(ASKED))
    except SolverStoppedError:
        return
    try:
        found = solve_large(instance, objective, Effort(10.0))
    except SolverStoppedError:
        return
    if best is None:
        assert found is None
        return
    assert found is not None
    optimum = value(best, objective)
    assert found.bound <= optimum * (1 + 1e-6) + 1e-6
    assert optimum * (1 - 1e-6) - 1e-6 <= value(found, objective)
    assert value(found, objective) * (1 - found.gap) <= optimum * (1 + 1e-6) + 1e-6
    taken = outcome(found.instance, assigned(found))
    assert taken is not None, "it keeps every limit"
    assert (taken.usd, taken.hours) == pytest.approx((found.usd, found.hours))
    assert sum(runs.runs for runs in found.placed) == sum(group.runs for group in instance.groups)


def test_many_ways_go_to_the_large_solver() -> None:
    groups = tuple(Group(3) for _ in range(20))
    ways = tuple(Way(group, option, option, 1.0 + option, 2.0) for group in range(20) for option in range(80))
    instance = Instance(groups, (Option(),) * 80, (Bin(1),) * 80, ways, {}, deadline=200.0)
    found = solve.solve(instance, Objective.COST, Effort(20))
    assert found is not None
    assert found.usd == pytest.approx(60 * 2.0)
    assert found.gap < 0.05


def simple(**changes: object) -> Instance:
    """Return two groups of two runs, a cheap lane of 4 hours, and an expensive lane with a price of its own."""
    whole = Instance(
        groups=(Group(2), Group(2)),
        options=(Option(), Option(fixed_usd=1.0)),
        bins=(Bin(1, closes=4.0), Bin(1, lane_usd=2.0)),
        ways=(Way(0, 0, 0, 2.0, 1.0), Way(0, 1, 1, 2.0, 5.0), Way(1, 0, 0, 1.0, 1.0), Way(1, 1, 1, 1.0, 5.0)),
        pools={},
    )
    return replace(whole, **changes)


def test_whole_runs_are_placed_first_then_the_rest_where_they_cost_least() -> None:
    placed = rounded_plan(simple(), {0: 1.0, 2: 1.5})
    assert placed is not None
    assert {(runs.way, runs.runs) for runs in placed} == {(0, 1), (1, 1), (2, 2)}


def test_a_run_moves_to_where_it_costs_less() -> None:
    placed = rounded_plan(simple(groups=(Group(1), Group(0))), {1: 1.0})
    assert placed == [RunsOnLane(way=0, lane=0, runs=1)]


def test_a_run_that_fits_nowhere_leaves_no_plan() -> None:
    short = simple(bins=(Bin(1, closes=4.0), Bin(1, closes=1.5)))
    assert rounded_plan(short, {}) is None


def test_without_effort_the_bound_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding does not know terms, so only a program could find a plan."""

    def spent(*_: object, **__: object) -> None:
        raise SolverStoppedError(5.0)

    monkeypatch.setattr(large, "solve_small", spent)
    with pytest.raises(SolverStoppedError) as error:
        solve_large(simple(bins=(Bin(1, closes=4.0), Bin(1, usd_per_hour=1.0))), Objective.COST, Effort(5))
    assert error.value.bound >= 4 * 1.0, "each run costs 1 USD at least"
