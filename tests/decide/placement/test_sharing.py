"""Lanes of several widths that take turns on the same machines, against every order of the runs."""

from __future__ import annotations

import math
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.decide.placement.instance import Bin, Group, Instance, Objective, Option, Way
from planner.decide.placement.sharing import apart, taking_turns, turns
from planner.decide.placement.solve import solve

USD = {1: 3.0, 2: 5.0}
"""Of an hour, by width."""


def asked(runs: list[tuple[float, int]], machines: int, deadline: float | None, opens: float) -> Instance:
    """Runs of so many hours on one machine, at least so wide; on two machines a run takes 0.7 of the hours."""
    widths = (1, 2) if machines > 1 else (1,)
    bins = tuple(
        Bin(machines // width, opens=opens, pool="site", nodes=width, origin=n) for n, width in enumerate(widths)
    )
    ways = tuple(
        Way(group, number, number, hours(work, width), USD[width] * hours(work, width))
        for group, (work, least) in enumerate(runs)
        for number, width in enumerate(widths)
        if width >= least
    )
    pools = {"site": machines} if len(widths) > 1 else {}
    instance = Instance(
        tuple(Group(1) for _ in runs), tuple(Option() for _ in widths), bins, ways, pools,
        deadline=deadline or math.inf,
    )  # fmt: skip
    return taking_turns(instance, held=set())


def hours(work: float, width: int) -> float:
    return work if width == 1 else 0.7 * work


def every(
    runs: list[tuple[float, int]], machines: int, deadline: float | None, opens: float
) -> set[tuple[float, float]]:
    """USD and end of every plan: each run as wide as it may be, in each order, as soon as machines are free."""
    found = set()
    for widths in product((1, 2), repeat=len(runs)):
        wide = zip(widths, runs, strict=True)
        if any(width < least or width > machines for width, (_, least) in wide):
            continue
        jobs = [(hours(work, width), width) for width, (work, _) in zip(widths, runs, strict=True)]
        usd = sum(USD[width] * long for long, width in jobs)
        for order in set(permutations(jobs)):
            free = [opens] * machines
            for long, width in order:
                free.sort()
                begin = free[width - 1]
                free[:width] = [begin + long] * width
            last = max(free)
            if last <= (deadline or math.inf) + 1e-9:
                found.add((round(usd, 6), round(last, 6)))
    return found


RUNS = st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0, 5.0]), st.sampled_from([1, 1, 2])), min_size=1, max_size=5)


@settings(max_examples=150, deadline=None)
@given(
    runs=RUNS, machines=st.sampled_from([1, 2, 4]), deadline=st.sampled_from([None, 4.0, 6.0, 9.0]),
    opens=st.sampled_from([0.0, 1.5]),
)  # fmt: skip
@pytest.mark.parametrize("objective", [Objective.COST, Objective.TIME])
def test_no_order_is_better(objective, runs, machines, deadline, opens):
    plans = every(runs, machines, deadline, opens)
    if machines == 1 and any(least == 2 for _, least in runs):
        return
    found = solve(asked(runs, machines, deadline, opens), objective, seconds=30)
    if not plans:
        assert found is None
        return
    assert found is not None
    axis = 0 if objective is Objective.COST else 1
    best = min(plan[axis] for plan in plans)
    assert (found.usd, found.hours)[axis] == pytest.approx(best, abs=1e-5)


def test_a_machine_in_two_windows_is_used_in_one_of_them():
    """One option's machines are there at once, the other's after 5 h: the same four."""
    bins = (Bin(2, pool="site", nodes=1), Bin(1, opens=5.0, pool="site", nodes=2))
    ways = (Way(0, 0, 0, 3.0, 1.0), Way(1, 1, 1, 3.0, 1.0))
    instance = taking_turns(
        Instance((Group(1), Group(1)), (Option(), Option()), bins, ways, {"site": 2}), held=set()
    )  # fmt: skip
    assert [spot.machines for spot in instance.bins] == [("site 0",), ("site 1",), ("site 0", "site 1")]
    assert apart(instance) == [(2, 0), (2, 1)]
    assert turns(instance) == []
    assert solve(instance, Objective.COST, seconds=10) is None


@pytest.mark.parametrize(("widths", "held"), [((2, 3), set()), ((1, 2), {"site"})])
def test_where_turns_are_not_taken_lanes_stay_as_they_are(widths, held):
    bins = tuple(Bin(1, pool="site", nodes=width, origin=n) for n, width in enumerate(widths))
    instance = Instance((Group(1),), (Option(), Option()), bins, (), {"site": 3})
    assert taking_turns(instance, held=held) is instance
