"""Solve an instance to the end as one program, and put its runs on lanes."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from planner.decide.placement.effort import Effort
from planner.decide.placement.formulation import formulate
from planner.decide.placement.instance import (
    TOLERANCE,
    Bin,
    Instance,
    Objective,
    RunsOnLane,
    Solution,
    evaluate,
    relative_gap,
)
from planner.decide.placement.milp import SolverStoppedError

SMALL = 1_500
"""Largest number of ways of a program with a bin for each lane."""
ROUNDS = 6
SMALLEST_GAP = 1e-7
"""Gaps below this are rounding errors: the plan counts as optimal."""


def solve_small(
    instance: Instance, objective: Objective, effort: Effort, *, gap: float = 0.0, split_all: bool = False
) -> Solution | None:
    """Return the best plan within a relative gap; None if no plan keeps the limits.

    Bins of small instances (and all bins with `split_all`) are split into lanes at once. Other bins are split only if
    their runs fit the total hours but not the single lanes. Raises SolverStoppedError if no plan was found.
    """
    to_split = {number for number, bin_ in enumerate(instance.bins) if bin_.lanes > 1}
    if not split_all and len(separated(instance, to_split).ways) > SMALL:
        to_split = {number for number in to_split if instance.bins[number].by_term}
    to_solve, bound = separated(instance, to_split), -math.inf
    for _ in range(ROUNDS):
        formulated = formulate(to_solve, objective)
        if formulated is None:
            return None
        try:
            optimum = formulated.program.solve(effort, gap=gap)
        except SolverStoppedError as error:
            raise SolverStoppedError(max(bound, error.bound)) from error
        if optimum is None:
            return None
        bound = max(bound, optimum.bound)
        columns = [(way, column) for way, column in enumerate(formulated.runs) if column is not None]
        runs = {way: count for way, column in columns if (count := round(optimum.values[column])) > 0}
        lengths = [optimum.values[column] for column in formulated.lengths]
        ends = tuple(accumulate(lengths)) or (instance.deadline,) * instance.phases
        placed, overfull = _on_lanes(to_solve, runs, ends)
        if not overfull:
            break
        to_solve = separated(to_solve, overfull)
    found = evaluate(to_solve, placed, bound=bound)
    if found is None or found.hours > instance.deadline * (1 + 1e-6) + 1e-6:
        raise SolverStoppedError(bound)
    weighed = found.to_pay + instance.waiting_usd_per_hour * found.hours
    left = relative_gap(found.hours if objective is Objective.TIME else weighed, bound)
    return replace(found, gap=left if left > SMALLEST_GAP else 0.0)


def separated(instance: Instance, bins: set[int]) -> Instance:
    """Return the instance with a bin for each lane of some bins, so that the program itself puts runs on lanes."""
    kept: list[Bin] = []
    places: dict[int, range] = {}
    for number, bin_ in enumerate(instance.bins):
        origin = number if bin_.origin is None else bin_.origin
        lanes = [replace(bin_, lanes=1, origin=origin)] * bin_.lanes if number in bins else [bin_]
        places[number] = range(len(kept), len(kept) + len(lanes))
        kept += lanes
    ways = tuple(replace(way, bin=place) for way in instance.ways for place in places[way.bin])
    return replace(instance, bins=tuple(kept), ways=ways)


def _on_lanes(
    instance: Instance, runs: Mapping[int, int], ends: Sequence[float]
) -> tuple[list[RunsOnLane], set[int]]:  # fmt: skip
    """Put the runs of each way on lanes, the longest first, each where it ends first.

    `ends` says when each phase must have ended. Return the runs by lane, and the bins of several lanes that are late.
    """
    ways_of_bin: defaultdict[int, list[int]] = defaultdict(list)
    for way in runs:
        ways_of_bin[instance.ways[way].bin].append(way)
    placed: defaultdict[tuple[int, int], int] = defaultdict(int)
    late: set[int] = set()
    for number, ways in ways_of_bin.items():
        bin_ = instance.bins[number]
        for phase, phase_end in enumerate(ends):
            start = max(bin_.opens, ends[phase - 1] if phase else 0.0)
            lanes = [(start, lane) for lane in range(bin_.lanes)]
            of_phase = [way for way in ways if instance.groups[instance.ways[way].group].phase == phase]
            for way in sorted(of_phase, key=lambda way: -instance.ways[way].hours):
                if bin_.lanes == 1:
                    placed[way, 0] = runs[way]
                    continue
                for _ in range(runs[way]):
                    end, lane = lanes[0]
                    heapq.heapreplace(lanes, (end + instance.ways[way].hours, lane))
                    placed[way, lane] += 1
            if max(lanes)[0] > min(bin_.closes, phase_end) * (1 + TOLERANCE) + 1e-6 and bin_.lanes > 1:
                late.add(number)
    return [RunsOnLane(way, lane, count) for (way, lane), count in placed.items()], late
