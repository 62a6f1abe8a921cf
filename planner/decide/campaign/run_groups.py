"""Group the runs of a campaign: number, work, nodes and order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planner.model.catalog import Catalog
from planner.model.plan.campaign_limits import rungs
from planner.model.plan.plan import Plan
from planner.scenario.job import resolve_job

ALL_RUNS = "runs"
"""Name of the only group of a plan that states none."""


class EqualLanes(NamedTuple):
    """Lanes that have been given the same runs."""

    load: float
    """Hours of the runs of each lane."""
    work: float
    runs: int
    lanes: int


@dataclass(frozen=True)
class Runs:
    """Equal runs."""

    name: str
    runs: int
    work: float
    """Work of each run, as a share of the plan's `work`."""
    min_nodes: int = 1
    max_nodes: int | None = None
    priority: int = 0
    phase: int = 0

    def takes(self, nodes: int | None) -> bool:
        """Return whether its runs may use this number of nodes; the nodes of a service (None) do not matter."""
        return nodes is None or (nodes >= self.min_nodes and (self.max_nodes is None or nodes <= self.max_nodes))


def run_groups(plan: Plan, catalog: Catalog) -> tuple[Runs, ...]:
    """Return the groups, the rungs of a search, or one group of all runs; the highest priority first.

    A group's work is its samples over those of the plan's `work`.
    """
    limits = plan.campaign
    if limits.successive_halving is not None:
        search = limits.successive_halving
        return tuple(
            Runs(f"rung {number}", runs, work, phase=0 if search.asynchronous else number - 1)
            for number, (runs, work) in enumerate(rungs(search), start=1)
        )
    if limits.groups is None:
        return (Runs(ALL_RUNS, limits.runs, 1.0),)
    whole = _samples(plan, catalog)
    found = [
        Runs(
            group.name, group.runs,
            1.0 if group.work is None else _samples(plan.model_copy(update={"work": group.work}), catalog) / whole,
            group.min_nodes or 1, group.max_nodes, group.priority,
        )
        for group in limits.groups
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda group: -group.priority))


def mean_work(groups: Sequence[Runs]) -> float:
    """Return the mean work of a run, as a share of the plan's `work`."""
    return sum(group.runs * group.work for group in groups) / sum(group.runs for group in groups)


def longest_lane(groups: Sequence[Runs], lanes: int, *, hours: float, startup: float) -> tuple[float, float]:
    """Return work and starts of the lane that ends last; runs go to the next free lane, the longest first.

    `hours` are those of the plan's `work`, `startup` those before each run. Phases follow each other.
    Source: longest processing time first, Graham, SIAM J. Appl. Math. 17 (1969) 416.
    """
    work, starts = 0.0, 0.0
    for phase in sorted({group.phase for group in groups}):
        used = min(lanes, sum(group.runs for group in groups if group.phase == phase))
        given = [EqualLanes(0.0, 0.0, 0, used)]
        for group in sorted((each for each in groups if each.phase == phase), key=lambda each: -each.work):
            given = _with_runs(given, group, group.work * hours + startup)
        last = max(given)
        work, starts = work + last.work, starts + last.runs
    return work, starts


def _with_runs(given: Sequence[EqualLanes], group: Runs, each: float) -> list[EqualLanes]:
    """Return the lanes after each run of a group, of `each` hours, has gone to the lane that is free first.

    The runs begin at the earliest of all possible starts, load + k x each. Only the least loaded lanes take part: those
    whose starts before the last of them is free are no more than the runs. All starts before that are taken, then
    whole rounds, and then one more run by the least loaded lanes.
    """
    ordered = sorted(given)

    def before(place: int) -> list[int]:
        return [math.ceil((ordered[place].load - lane.load) / each) for lane in ordered[: place + 1]]

    def count(rounds: Sequence[int]) -> int:
        return sum(runs * lane.lanes for runs, lane in zip(rounds, ordered, strict=False))

    last = next(place for place in reversed(range(len(ordered))) if count(before(place)) <= group.runs)
    rounds, taking = before(last), sum(lane.lanes for lane in ordered[: last + 1])
    whole, left = divmod(group.runs - count(rounds), taking)
    filled = sorted(_added(lane, runs + whole, group, each) for lane, runs in zip(ordered, rounds, strict=False))
    after = ordered[last + 1 :]
    for lane in filled:
        more = min(left, lane.lanes)
        left -= more
        after += [_added(lane, 1, group, each)._replace(lanes=more)] if more else []
        after += [lane._replace(lanes=lane.lanes - more)] if lane.lanes > more else []
    return after


def _added(lane: EqualLanes, runs: int, group: Runs, each: float) -> EqualLanes:
    return lane._replace(load=lane.load + runs * each, work=lane.work + runs * group.work, runs=lane.runs + runs)


def _samples(plan: Plan, catalog: Catalog) -> float:
    job = resolve_job(plan.model_copy(update={"options": plan.options[:1]}), catalog)
    return job.samples_per_epoch * job.epochs
