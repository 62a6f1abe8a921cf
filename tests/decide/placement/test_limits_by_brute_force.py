"""Windows, pools, terms, blocks, credits, allocations and phases, compared with every possible assignment."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Bin, Group, Instance, Objective, Option, SoldBlock, Way
from planner.decide.placement.solve import solve
from tests.decide.placement.every_assignment import every_outcome

HOURS = st.sampled_from([1.0, 1.5, 2.0, 3.0, 5.0])
USD = st.sampled_from([1.0, 2.0, 3.5, 8.0])


@st.composite
def bins(draw: st.DrawFn) -> Bin:
    """Draw lanes of one of the kinds that plans have."""
    kind = draw(st.sampled_from(["free", "window", "pool", "bought", "term", "block"]))
    lanes = draw(st.integers(1, 2))
    match kind:
        case "window":
            opens = draw(st.sampled_from([0.0, 2.0, 4.0]))
            length = draw(st.sampled_from([2.0, 4.0, 7.0]))
            return Bin(lanes=lanes, opens=opens, closes=opens + length, lane_usd=draw(st.sampled_from([0.0, 5.0])))
        case "pool":
            return Bin(lanes=lanes, pool="site", nodes=draw(st.integers(1, 2)))
        case "bought":
            return Bin(lanes=lanes, opens=draw(st.sampled_from([0.0, 3.0])), lane_usd=draw(st.sampled_from([4.0, 9.0])))
        case "term":
            term, after = draw(st.sampled_from([1.0, 4.0])), draw(st.sampled_from([1.0, 1.5, math.inf]))
            return Bin(lanes=lanes, usd_per_hour=draw(USD), least_hours=term, after_factor=after)
        case "block":
            return Bin(lanes=lanes, usd_per_hour=draw(USD), blocks=(SoldBlock(4.0, 3.5), SoldBlock(8.0, 7.5)))
    return Bin(lanes=lanes, opens=draw(st.sampled_from([0.0, 1.0])))


@st.composite
def instances(draw: st.DrawFn, *, phases: int = 1) -> Instance:
    """Draw up to five runs on up to three options."""
    places = draw(st.lists(bins(), min_size=1, max_size=3))
    sizes = draw(st.lists(st.integers(1, 2), min_size=phases, max_size=max(2, phases)))
    ways = [
        Way(group, number, number, hours=(hours := draw(HOURS)), usd=draw(USD), billed_hours=hours)
        for group in range(len(sizes))
        for number in range(len(places))
    ]
    options = [
        Option(
            fixed_usd=draw(st.sampled_from([0.0, 0.0, 3.0])),
            most_node_hours=draw(st.sampled_from([math.inf, math.inf, 6.0])),
            credits=draw(st.sampled_from([None, "aws"])),
        )
        for _ in places
    ]
    return Instance(
        groups=tuple(Group(runs, phase=min(number, phases - 1)) for number, runs in enumerate(sizes)),
        options=tuple(options),
        bins=tuple(places),
        ways=tuple(ways),
        pools={"site": draw(st.integers(2, 3))},
        deadline=draw(st.sampled_from([math.inf, 6.0, 9.0, 15.0])),
        budget=draw(st.sampled_from([math.inf, math.inf, 12.0, 25.0])),
        credits=draw(st.sampled_from([None, {"aws": 5.0}])),
    )


@settings(max_examples=60, deadline=None)
@given(instance=instances())
@pytest.mark.parametrize("objective", [Objective.COST, Objective.TIME])
def test_no_assignment_is_better(objective: Objective, instance: Instance) -> None:
    _compared(instance, objective)


@settings(max_examples=30, deadline=None)
@given(instance=instances(phases=2))
@pytest.mark.parametrize("objective", [Objective.COST, Objective.TIME])
def test_no_assignment_in_two_phases_is_better(objective: Objective, instance: Instance) -> None:
    _compared(instance, objective)


@settings(max_examples=30, deadline=None)
@given(instance=instances(), usd_per_hour=st.sampled_from([0.5, 2.0, 10.0]))
def test_an_hour_of_waiting_is_weighed(instance: Instance, usd_per_hour: float) -> None:
    valued = replace(instance, waiting_usd_per_hour=usd_per_hour)
    outcomes = every_outcome(valued)
    found = solve(valued, Objective.COST, Effort(30))
    if not outcomes:
        assert found is None
        return
    assert found is not None
    best = min(outcome.to_pay + usd_per_hour * outcome.hours for outcome in outcomes)
    assert found.to_pay + usd_per_hour * found.hours == pytest.approx(best, abs=1e-4)


def _compared(instance: Instance, objective: Objective) -> None:
    outcomes = every_outcome(instance)
    found = solve(instance, objective, Effort(30))
    if not outcomes:
        assert found is None
        return
    assert found is not None
    if objective is Objective.COST:
        best = min((outcome.to_pay, outcome.hours) for outcome in outcomes)
        assert (found.to_pay, found.hours) == pytest.approx(best, abs=1e-4)
    else:
        best = min((outcome.hours, outcome.to_pay) for outcome in outcomes)
        assert (found.hours, found.to_pay) == pytest.approx(best, abs=1e-4)
    assert found.gap < 1e-6
