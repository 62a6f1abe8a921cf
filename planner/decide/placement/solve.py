"""Find the best plan of an instance, and bound its distance from the best possible plan."""

from __future__ import annotations

from dataclasses import replace

from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Instance, Objective, Solution
from planner.decide.placement.large import solve_large
from planner.decide.placement.milp import SolverStoppedError
from planner.decide.placement.small import SMALL, solve_small

MOST_POINTS = 60
"""Largest number of plans on a Pareto front."""
JUST_BELOW = 1 - 1e-6
JUST_ABOVE = 1 + 1e-9


def solve(instance: Instance, objective: Objective, effort: Effort) -> Solution | None:
    """Return the best plan, and among equally good plans the best in the other objective; None if no plan is allowed.

    Raises SolverStoppedError if the effort was spent before a plan was found or ruled out.
    """
    if len(instance.ways) > SMALL and instance.phases == 1 and not instance.waiting_usd_per_hour:
        return solve_large(instance, objective, effort)
    best = solve_small(instance, objective, effort)
    if best is None or instance.waiting_usd_per_hour > 0 or len(best.instance.ways) > SMALL or effort.spent:
        return best
    if objective is Objective.TIME:
        as_good = replace(best.instance, deadline=min(instance.deadline, best.hours * JUST_ABOVE + 1e-9))
        other = Objective.COST
    else:
        as_good = replace(best.instance, most_usd=best.to_pay * JUST_ABOVE + 1e-6)
        other = Objective.TIME
    try:
        polished = solve_small(as_good, other, effort)
    except SolverStoppedError:
        return best
    if polished is None:
        return best
    by_time = objective is Objective.TIME
    worse = polished.hours > best.hours * (1 + 1e-6) if by_time else polished.to_pay > best.to_pay + 1e-4
    return best if worse else replace(polished, bound=best.bound, gap=best.gap)


def front(instance: Instance, effort: Effort) -> tuple[list[Solution], bool]:
    """Return the plans that no other plan beats in both objectives, the cheapest first, and whether they are all.

    Each is the cheapest plan that is faster than the one before it.
    """
    found: list[Solution] = []
    asked = replace(instance, waiting_usd_per_hour=0.0)
    while len(found) < MOST_POINTS and not effort.spent:
        try:
            faster = solve(asked, Objective.COST, effort)
        except SolverStoppedError:
            return found, False
        if faster is None:
            return found, True
        found.append(faster)
        asked = replace(asked, deadline=faster.hours * JUST_BELOW)
    return found, False
