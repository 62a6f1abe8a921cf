"""Solutions compared with every possible plan, enumerated without the planner: up to 6 runs on 4 options."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Bin, Group, Instance, Objective, Option, Way
from planner.decide.placement.solve import front, solve

Machine = tuple[int, float, float, float, float]
"""Sets, hours and USD of a unit of work, hours until it is available, and USD once."""
MACHINES = st.lists(
    st.tuples(
        st.integers(1, 2), st.sampled_from([1.0, 1.5, 2.0, 3.5, 7.0]), st.sampled_from([1.0, 3.0, 4.0, 9.0, 20.0]),
        st.sampled_from([0.0, 0.0, 2.0, 5.0]), st.sampled_from([0.0, 0.0, 6.0]),
    ),
    min_size=1, max_size=4,
)  # fmt: skip
WORKS = st.lists(st.sampled_from([1.0, 1.0, 2.0, 3.0]), min_size=1, max_size=6)
LIMITS = st.one_of(st.none(), st.sampled_from([3.0, 6.0, 7.0, 10.0, 14.0, 21.0]))
BUDGETS = st.one_of(st.none(), st.sampled_from([4.0, 10.0, 25.0, 60.0]))
Limit = float | None


def every_plan(works: list[float], machines: list[Machine], deadline: Limit, budget: Limit) -> set[tuple[float, float]]:
    """Return USD and hours of each way to give the runs to sets of machines that keeps the limits."""
    sets = [number for number, machine in enumerate(machines) for _ in range(machine[0])]
    kept = set()
    for given_to in product(range(len(sets)), repeat=len(works)):
        usd, ends = 0.0, dict[int, float]()
        for work, place in zip(works, given_to, strict=True):
            _, hours, price, wait, _ = machines[sets[place]]
            usd += work * price
            ends[place] = ends.get(place, wait) + work * hours
        usd += sum(machines[number][4] for number in {sets[place] for place in given_to})
        last = max(ends.values())
        if last <= (deadline or math.inf) + 1e-9 and usd <= (budget or math.inf) + 1e-9:
            kept.add((round(usd, 6), round(last, 6)))
    return kept


def instance_of(works: list[float], machines: list[Machine], deadline: Limit, budget: Limit) -> Instance:
    sizes = sorted(set(works))
    return Instance(
        groups=tuple(Group(works.count(size)) for size in sizes),
        options=tuple(Option(fixed_usd=machine[4]) for machine in machines),
        bins=tuple(Bin(lanes=machine[0], opens=machine[3]) for machine in machines),
        ways=tuple(
            Way(group, number, number, hours=size * machine[1], usd=size * machine[2])
            for group, size in enumerate(sizes)
            for number, machine in enumerate(machines)
        ),
        pools={},
        deadline=deadline or math.inf,
        budget=budget or math.inf,
    )


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(works=WORKS, machines=MACHINES, deadline=LIMITS, budget=BUDGETS)
@pytest.mark.parametrize("objective", [Objective.COST, Objective.TIME])
def test_no_plan_is_better(
    objective: Objective, works: list[float], machines: list[Machine], deadline: Limit, budget: Limit
) -> None:
    plans = every_plan(works, machines, deadline, budget)
    found = solve(instance_of(works, machines, deadline, budget), objective, Effort(30))
    if not plans:
        assert found is None
        return
    assert found is not None
    axes = (0, 1) if objective is Objective.COST else (1, 0)
    best = min(plans, key=lambda plan: (plan[axes[0]], plan[axes[1]]))
    assert (found.usd, found.hours) == pytest.approx(best, abs=1e-5)
    assert found.gap < 1e-6


@settings(max_examples=25, deadline=None)
@given(works=WORKS, machines=MACHINES, budget=BUDGETS)
def test_the_front_is_every_plan_that_no_plan_beats(works: list[float], machines: list[Machine], budget: Limit) -> None:
    plans = every_plan(works, machines, None, budget)
    best = sorted(
        plan for plan in plans
        if not any(other != plan and other[0] <= plan[0] and other[1] <= plan[1] for other in plans)
    )  # fmt: skip
    found, complete = front(instance_of(works, machines, None, budget), Effort(30))
    assert complete
    assert [(solution.usd, solution.hours) for solution in found] == [pytest.approx(plan, abs=1e-4) for plan in best]
