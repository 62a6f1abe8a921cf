"""The best plan of an instance, with how far it may be from the best possible."""

from __future__ import annotations

from dataclasses import replace

from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Instance, Objective, Solution
from planner.decide.placement.large import solve_large
from planner.decide.placement.milp import SolverStoppedError
from planner.decide.placement.small import SMALL, size, solve_small

MOST_POINTS = 60
"""Of a Pareto front."""
JUST_BELOW = 1 - 1e-6
JUST_ABOVE = 1 + 1e-9


def solve(instance: Instance, objective: Objective, effort: Effort) -> Solution | None:
    """Return the best plan, and among equals the one that is better on the other axis; None: no plan keeps the limits.

    Raises SolverStoppedError where the effort was spent before one was found or ruled out.
    """
    if size(instance) > SMALL and instance.phases == 1 and not instance.waiting_usd_per_hour:
        return solve_large(instance, objective, effort)
    best = solve_small(instance, objective, effort)
    if best is None or instance.waiting_usd_per_hour > 0 or size(best.instance) > SMALL:
        return best
    if effort.spent:
        return best
    if objective is Objective.TIME:
        same = replace(best.instance, deadline=min(instance.deadline, best.hours * JUST_ABOVE + 1e-9))
        other = Objective.COST
    else:
        same = replace(best.instance, most_usd=best.to_pay * JUST_ABOVE + 1e-6)
        other = Objective.TIME
    try:
        polished = solve_small(same, other, effort)
    except SolverStoppedError:
        return best
    if polished is None:
        return best
    worse = (
        polished.hours > best.hours * (1 + 1e-6)
        if objective is Objective.TIME
        else polished.to_pay > best.to_pay + 1e-4
    )
    return best if worse else replace(polished, bound=best.bound, gap=best.gap)


def front(instance: Instance, effort: Effort) -> tuple[list[Solution], bool]:
    """Return the plans of which none is better in both, the cheapest first, and whether they are all.

    Each is the cheapest that is faster than the one before it.
    """
    found = list[Solution]()
    deadline = instance.deadline
    while len(found) < MOST_POINTS:
        if effort.spent:
            return found, False
        try:
            next_one = solve(replace(instance, deadline=deadline, waiting_usd_per_hour=0.0), Objective.COST, effort)
        except SolverStoppedError:
            return found, False
        if next_one is None:
            return found, True
        found.append(next_one)
        deadline = next_one.hours * JUST_BELOW
    return found, False
