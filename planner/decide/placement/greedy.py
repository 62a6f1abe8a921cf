"""Round a plan with split runs to whole runs, quickly."""

from __future__ import annotations

import math
from collections.abc import Mapping

from planner.decide.placement.instance import TOLERANCE, Instance, RunsOnLane

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
