"""Many options: a bound from the program without whole numbers, and a plan of the ways that it uses."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from planner.decide.placement.effort import Effort
from planner.decide.placement.formulation import formulate
from planner.decide.placement.greedy import rounded_plan
from planner.decide.placement.instance import Instance, Objective, Solution, in_budget, measured
from planner.decide.placement.milp import SolverStoppedError
from planner.decide.placement.small import solve_small

SPARE_WAYS = 5
"""Of each group, beside those that are used: the next best."""
ASKED_GAP = 0.005
LONGER = (1.01, 1.02, 1.03, 1.04, 1.05, 1.07, 1.1, 1.15, 1.2, 1.5, 2.0, 4.0, 16.0)
"""By how much a plan may take longer than the bound, tried in this order."""
MOST_LONGER = 1.05
"""Up to which a program is asked where rounding finds no plan."""
ENOUGH = 0.01
"""A rounded plan this near to the bound is taken."""
TIGHT = 1.002
"""Of the bound: a plan with split runs for hours so few leaves room to round."""
HALVINGS = 12
IN_USE = 1e-7
OF_FEW_WAYS = 0.35
"""Share of the effort for the program of few ways; the rest is left for that of all."""


@dataclass(frozen=True)
class Relaxed:
    """The best plan where runs may be split."""

    usd: float
    """No plan is cheaper."""
    shares: dict[int, float]
    """Runs of each way that is used, split ones too."""
    added: dict[int, float]
    """What a run of each way adds to the cost of the plan."""


def solve_large(instance: Instance, objective: Objective, effort: Effort) -> Solution | None:
    """Return a good plan with its gap: of few ways, those that are used where runs may be split, and the next best.

    None: no plan keeps the limits, even with runs split. Raises SolverStoppedError where none was found.
    """
    return _cheapest(instance, effort) if objective is Objective.COST else _fastest(instance, effort)


def _cheapest(instance: Instance, effort: Effort) -> Solution | None:
    """Round, then solve with few ways, then with all; stop where the gap is small."""
    relaxed, whole = _relaxed(instance, effort), effort.left
    if relaxed is None:
        return None
    best, bound = _quick(instance, relaxed), relaxed.usd
    for few, share in ((True, OF_FEW_WAYS), (False, 1.0)):
        if best is not None and _gap(best.to_pay, bound) <= ENOUGH:
            break
        try:
            found = solve_small(_few_ways(instance, relaxed) if few else instance, Objective.COST,
                                effort.part(share * whole), gap=ASKED_GAP, apart=few)  # fmt: skip
        except SolverStoppedError as error:
            bound = bound if few else max(bound, error.bound)
            continue
        if found is not None:
            bound = bound if few else max(bound, found.bound)
            best = found if best is None or found.to_pay < best.to_pay else best
    if best is None:
        raise SolverStoppedError(bound)
    return replace(best, bound=bound, gap=_gap(best.to_pay, bound))


def _fastest(instance: Instance, effort: Effort) -> Solution | None:
    """Try hours from the bound on, until a plan is found that keeps them."""
    shortest, whole = _shortest(instance, effort), effort.left
    if shortest is None:
        return None
    tight = _relaxed(replace(instance, deadline=min(instance.deadline, shortest * TIGHT)), effort)
    for longer in LONGER:
        limited = replace(instance, deadline=min(instance.deadline, shortest * longer))
        relaxed = _relaxed(limited, effort)
        if relaxed is None:
            continue
        found = (_quick(limited, tight) if tight is not None else None) or _quick(limited, relaxed)
        if found is None and not effort.spent and longer <= MOST_LONGER:
            try:
                few = _few_ways(limited, relaxed)
                found = solve_small(few, Objective.COST, effort.part(whole / 6), gap=ASKED_GAP, apart=True)
            except SolverStoppedError:
                continue
        if found is not None:
            return replace(found, bound=shortest, gap=_gap(found.hours, shortest))
    raise SolverStoppedError(shortest)


def _quick(instance: Instance, relaxed: Relaxed) -> Solution | None:
    """Return a plan by rounding; None where some run fits nowhere, or it breaks the budget."""
    if any(spot.by_term for spot in instance.bins) or instance.pools:
        return None
    placed = rounded_plan(instance, relaxed.shares)
    taken = measured(instance, placed) if placed is not None else None
    if placed is None or taken is None or not in_budget(instance, placed):
        return None
    return Solution(instance, tuple(placed), *taken[:2], taken[2][-1], taken[2], relaxed.usd, 0.0)


def _few_ways(instance: Instance, relaxed: Relaxed) -> Instance:
    """Return the instance with the ways that are used where runs may be split, and of each group the next best."""
    spare: dict[int, list[tuple[float, int]]] = {}
    for way, added in relaxed.added.items():
        spare.setdefault(instance.ways[way].group, []).append((added, way))
    kept = set(relaxed.shares).union(way for of_group in spare.values() for _, way in sorted(of_group)[:SPARE_WAYS])
    return replace(instance, ways=tuple(instance.ways[way] for way in sorted(kept)))


def _relaxed(instance: Instance, effort: Effort) -> Relaxed | None:
    written = formulate(instance, Objective.COST)
    optimum = written.program.solve(effort, relaxed=True) if written else None
    if written is None or optimum is None:
        return None
    columns = [(way, column) for way, column in enumerate(written.runs) if column is not None]
    shares = {way: optimum.values[column] for way, column in columns if optimum.values[column] > IN_USE}
    added = {way: optimum.reduced[column] for way, column in columns if way not in shares}
    return Relaxed(optimum.bound, shares, added)


def _shortest(instance: Instance, effort: Effort) -> float | None:
    """Return hours in which no plan is done, as none is where runs may be split, within 0.1 % of those in which one is.

    A way whose run is longer than the hours does not count. None: no hours are enough.
    Source: Lenstra, Shmoys and Tardos, Approximation algorithms for scheduling unrelated parallel machines, Math. Prog.
    46 (1990) 259.
    """
    if _relaxed(instance, effort) is None:
        return None
    low, high = 0.0, instance.deadline
    if math.isinf(high):
        high = max(way.hours + instance.bins[way.bin].opens for way in instance.ways)
        while _relaxed(replace(instance, deadline=high), effort) is None:
            low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2 if low == 0 else math.sqrt(low * high)
        if _relaxed(replace(instance, deadline=middle), effort) is None:
            low = middle
        else:
            high = middle
        if high <= low * 1.001:
            break
    return low


def _gap(value: float, bound: float) -> float:
    return max(0.0, value - bound) / value if value > 0 else 0.0
