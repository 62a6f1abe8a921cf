"""Solve questions with many options: a bound from the relaxed program, then a plan of the ways that it uses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from planner.decide.placement.effort import Effort
from planner.decide.placement.formulation import formulate
from planner.decide.placement.instance import (
    TOLERANCE,
    Instance,
    Objective,
    RunsOnLane,
    Solution,
    evaluate,
    in_budget,
    relative_gap,
)
from planner.decide.placement.milp import SolverStoppedError
from planner.decide.placement.small import solve_small

SPARE_WAYS = 5
"""Next best ways of each group that are kept beside the used ones."""
ASKED_GAP = 0.005
LONGER = (1.01, 1.02, 1.03, 1.04, 1.05, 1.07, 1.1, 1.15, 1.2, 1.5, 2.0, 4.0, 16.0)
"""Factors on the shortest hours that are tried in this order."""
MOST_LONGER = 1.05
"""Largest of these factors for which a program is solved if rounding finds no plan."""
ENOUGH = 0.01
"""Gap at which a rounded plan is good enough."""
TIGHT = 1.002
"""Factor on the shortest hours for the split plan that is rounded first: it leaves room to round."""
HALVINGS = 12
IN_USE = 1e-7
FEW_WAYS_SHARE = 0.35
"""Share of the effort for the program with few ways. The rest is left for the program with all."""


@dataclass(frozen=True)
class Relaxed:
    """The best plan if runs may be split."""

    usd: float
    """Lower bound on the cost of every plan."""
    shares: dict[int, float]
    """Runs of each used way, perhaps fractional."""
    added: dict[int, float]
    """Cost that a run of each unused way adds to the plan."""


def solve_large(instance: Instance, objective: Objective, effort: Effort) -> Solution | None:
    """Return a good plan with its gap; None if no plan keeps the limits, even with split runs.

    Raises SolverStoppedError if no plan was found.
    """
    return _cheapest(instance, effort) if objective is Objective.COST else _fastest(instance, effort)


def _cheapest(instance: Instance, effort: Effort) -> Solution | None:
    """Round, then solve with few ways, then with all; stop as soon as the gap is small."""
    relaxed, whole = _relaxed(instance, effort), effort.left
    if relaxed is None:
        return None
    best, bound = _rounded(instance, relaxed), relaxed.usd
    for few, share in ((True, FEW_WAYS_SHARE), (False, 1.0)):
        if best is not None and relative_gap(best.to_pay, bound) <= ENOUGH:
            break
        try:
            found = solve_small(_few_ways(instance, relaxed) if few else instance, Objective.COST,
                                effort.part(share * whole), gap=ASKED_GAP, split_all=few)  # fmt: skip
        except SolverStoppedError as error:
            bound = bound if few else max(bound, error.bound)
            continue
        if found is not None:
            bound = bound if few else max(bound, found.bound)
            best = found if best is None or found.to_pay < best.to_pay else best
    if best is None:
        raise SolverStoppedError(bound)
    return replace(best, bound=bound, gap=relative_gap(best.to_pay, bound))


def _fastest(instance: Instance, effort: Effort) -> Solution | None:
    """Try ever longer deadlines, starting near the bound, until one has a plan."""
    shortest, whole = _shortest(instance, effort), effort.left
    if shortest is None:
        return None
    tight = _relaxed(replace(instance, deadline=min(instance.deadline, shortest * TIGHT)), effort)
    for longer in LONGER:
        limited = replace(instance, deadline=min(instance.deadline, shortest * longer))
        relaxed = _relaxed(limited, effort)
        if relaxed is None:
            continue
        found = (_rounded(limited, tight) if tight is not None else None) or _rounded(limited, relaxed)
        if found is None and not effort.spent and longer <= MOST_LONGER:
            try:
                few = _few_ways(limited, relaxed)
                found = solve_small(few, Objective.COST, effort.part(whole / 6), gap=ASKED_GAP, split_all=True)
            except SolverStoppedError:
                continue
        if found is not None:
            return replace(found, bound=shortest, gap=relative_gap(found.hours, shortest))
    raise SolverStoppedError(shortest)


def _rounded(instance: Instance, relaxed: Relaxed) -> Solution | None:
    """Return a plan by rounding; None if a run fits nowhere or the plan breaks the budget.

    Rounding knows neither terms nor pools.
    """
    if any(bin_.by_term for bin_ in instance.bins) or instance.pools:
        return None
    placed = rounded_plan(instance, relaxed.shares)
    if placed is None or not in_budget(instance, placed):
        return None
    return evaluate(instance, placed, bound=relaxed.usd)


def _few_ways(instance: Instance, relaxed: Relaxed) -> Instance:
    """Return the instance with only the ways that the relaxed plan uses and the next best ways of each group."""
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
    """Return a lower bound on the hours of every plan; None if no hours are enough.

    The bound is the longest deadline without a plan of split runs, to 0.1 %. Ways whose run exceeds the deadline do
    not count. Source: Lenstra, Shmoys and Tardos, Approximation algorithms for scheduling unrelated parallel machines,
    Math. Prog. 46 (1990) 259.
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
        possible = _relaxed(replace(instance, deadline=middle), effort) is not None
        low, high = (low, middle) if possible else (middle, high)
        if high <= low * 1.001:
            break
    return low


ROUNDS = 20
"""Rounds in which every run may move to a cheaper lane."""


def rounded_plan(instance: Instance, shares: Mapping[int, float]) -> list[RunsOnLane] | None:
    """Put runs on lanes, starting from the (fractional) runs of each way in `shares`; None if a run fits nowhere.

    Three steps, each with the longest runs first: the whole runs of each way; then each other run where it adds the
    least cost; then moves of single runs to lanes where they cost less.
    """
    lanes = _FilledLanes(instance)
    left = [group.runs for group in instance.groups]
    for way in sorted(shares, key=lambda way: -instance.ways[way].hours):
        for _ in range(math.floor(shares[way] + TOLERANCE)):
            lane = lanes.fullest_lane_for(way) if left[instance.ways[way].group] else None
            if lane is not None:
                lanes.add(way, lane)
                left[instance.ways[way].group] -= 1
    shortest = [min((instance.ways[way].hours for way in ways), default=0.0) for ways in lanes.ways_of_group]
    for group in sorted(range(len(left)), key=lambda group: -shortest[group]):
        for _ in range(left[group]):
            cheapest = lanes.cheapest(group)
            if cheapest is None:
                return None
            lanes.add(*cheapest[1:])
    lanes.improve()
    return [RunsOnLane(way, lane, runs) for (way, lane), runs in lanes.runs.items() if runs]


class _FilledLanes:
    """Runs on each lane, with the hours that are left there."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.runs: dict[tuple[int, int], int] = {}
        """Runs by way and lane."""
        self.hours_left = [[min(bin_.closes, instance.deadline) - bin_.opens] * bin_.lanes for bin_ in instance.bins]
        self.runs_on_lane = [[0] * bin_.lanes for bin_ in instance.bins]
        self.runs_of_option = [0] * len(instance.options)
        self.ways_of_group: list[list[int]] = [[] for _ in instance.groups]
        for number, way in enumerate(instance.ways):
            self.ways_of_group[way.group].append(number)

    def fullest_lane_for(self, number: int) -> int | None:
        """Return the lane with the fewest hours left that still holds one more run of a way; None if none does."""
        way = self.instance.ways[number]
        left = self.hours_left[way.bin]
        fitting = [lane for lane, hours in enumerate(left) if way.hours <= hours * (1 + TOLERANCE) + TOLERANCE]
        return min(fitting, key=lambda lane: left[lane], default=None)

    def added_usd(self, number: int, lane: int) -> float:
        """Return what one more run of a way on a lane adds to the cost."""
        way = self.instance.ways[number]
        usd = way.usd
        if not self.runs_of_option[way.option]:
            usd += self.instance.options[way.option].fixed_usd
        if not self.runs_on_lane[way.bin][lane]:
            usd += self.instance.bins[way.bin].lane_usd
        return usd

    def add(self, number: int, lane: int, runs: int = 1) -> None:
        """Put runs of a way on a lane; a negative number takes them off."""
        way = self.instance.ways[number]
        self.runs[number, lane] = self.runs.get((number, lane), 0) + runs
        self.hours_left[way.bin][lane] -= runs * way.hours
        self.runs_on_lane[way.bin][lane] += runs
        self.runs_of_option[way.option] += runs

    def cheapest(self, group: int) -> tuple[float, int, int] | None:
        """Return the least added cost of one more run of a group, with its way and lane; None if it fits nowhere."""
        fitting = [
            (self.added_usd(way, lane), way, lane)
            for way in self.ways_of_group[group]
            if (lane := self.fullest_lane_for(way)) is not None
        ]
        return min(fitting, key=lambda found: found[0], default=None)

    def improve(self) -> None:
        """Move single runs to where they cost less, until no move saves money."""
        for _ in range(ROUNDS):
            moved = False
            for (way, lane), runs in list(self.runs.items()):
                if not runs:
                    continue
                self.add(way, lane, -1)
                usd, better = self.added_usd(way, lane), self.cheapest(self.instance.ways[way].group)
                if better is not None and better[0] < usd * (1 - 1e-6) - 1e-9:
                    self.add(*better[1:])
                    moved = True
                else:
                    self.add(way, lane)
            if not moved:
                return
