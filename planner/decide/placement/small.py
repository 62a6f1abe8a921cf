"""An instance as one program, solved to the end."""

from __future__ import annotations

import math

from planner.decide.placement.effort import Effort
from planner.decide.placement.formulation import Formulation, formulate
from planner.decide.placement.instance import Instance, Objective, Placed, Solution, measured
from planner.decide.placement.lanes import on_lanes, separated
from planner.decide.placement.milp import SolverStoppedError

SMALL = 1_500
"""Ways up to which a program is solved to the end, each lane for itself."""
ROUNDS = 6


def solve_small(
    instance: Instance, objective: Objective, effort: Effort, *, gap: float = 0.0, apart: bool = False
) -> Solution | None:
    """Solve, and put runs on lanes; bins whose lanes cannot hold what they hold together are taken apart, and again."""
    every = {number for number, spot in enumerate(instance.bins) if spot.lanes > 1}
    if not apart and size(separated(instance, every)) > SMALL:
        every = {number for number in every if instance.bins[number].by_term}
    question, bound = separated(instance, every), -math.inf
    for _ in range(ROUNDS):
        written = formulate(question, objective)
        if written is None:
            return None
        try:
            optimum = written.program.solve(effort, gap=gap)
        except SolverStoppedError as error:
            raise SolverStoppedError(max(bound, error.bound)) from error
        if optimum is None:
            return None
        bound = max(bound, optimum.bound)
        placed, over = _placed(question, written, optimum.values)
        if not over:
            break
        question = separated(question, over)
    return _solution(question, placed, objective, bound)


def size(instance: Instance) -> int:
    """Return the number of ways."""
    return len(instance.ways)


def _placed(instance: Instance, written: Formulation, values: tuple[float, ...]) -> tuple[list[Placed], set[int]]:
    counts = {
        way: round(values[column]) for way, column in enumerate(written.runs)
        if column is not None and round(values[column]) > 0
    }  # fmt: skip
    if not written.lengths:
        return on_lanes(instance, counts, ends=(instance.deadline,) * instance.phases)
    ends, end = [], 0.0
    for length in written.lengths:
        end += values[length]
        ends.append(end)
    return on_lanes(instance, counts, ends=tuple(ends))


def _solution(instance: Instance, placed: list[Placed], objective: Objective, bound: float) -> Solution | None:
    taken = measured(instance, placed)
    if taken is None or taken[2][-1] > instance.deadline * (1 + 1e-6) + 1e-6:
        raise SolverStoppedError(bound)
    usd, to_pay, ends = taken
    hours = ends[-1]
    value = hours if objective is Objective.TIME else to_pay + instance.waiting_usd_per_hour * hours
    gap = max(0.0, value - bound) / value if value > 0 else 0.0
    return Solution(instance, tuple(placed), usd, to_pay, hours, ends, bound, gap if gap > 1e-7 else 0.0)
