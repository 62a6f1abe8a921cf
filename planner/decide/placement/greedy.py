"""A plan made quickly: whole runs of a plan with split ones, and the rest where they cost least."""

from __future__ import annotations

import math
from collections.abc import Mapping

from planner.decide.placement.instance import TOLERANCE, Instance, Placed


def rounded_plan(instance: Instance, shares: Mapping[int, float]) -> list[Placed] | None:
    """Put runs on lanes, by `shares` (runs of each way, split ones too); None: some run fits nowhere.

    First the whole runs of each way, the longest first; then each run that is left, the longest first, where it adds
    the least cost; last single runs move to where they cost less, as long as some do.
    """
    lanes = _Lanes(instance)
    left = [group.runs for group in instance.groups]
    for way in sorted(shares, key=lambda one: -instance.ways[one].hours):
        for _ in range(math.floor(shares[way] + TOLERANCE)):
            if left[instance.ways[way].group] and lanes.put(way):
                left[instance.ways[way].group] -= 1
    least = [min((one.hours for one in instance.ways if one.group == group), default=0.0) for group in range(len(left))]
    for group in sorted(range(len(left)), key=lambda one: -least[one]):
        for _ in range(left[group]):
            if not lanes.put_cheapest(group):
                return None
    lanes.improve()
    return lanes.placed


class _Lanes:
    """Every lane with what it holds."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.room = [[min(spot.closes, instance.deadline) - spot.opens] * spot.lanes for spot in instance.bins]
        self.counts: dict[tuple[int, int], int] = {}
        self.in_lane = [[0] * spot.lanes for spot in instance.bins]
        self.of_option = [0] * len(instance.options)
        self.ways_of = [
            [n for n, way in enumerate(instance.ways) if way.group == g] for g in range(len(instance.groups))
        ]

    @property
    def placed(self) -> list[Placed]:
        return [Placed(way, lane, runs) for (way, lane), runs in self.counts.items() if runs]

    def fitting(self, way: int) -> int | None:
        """Return the fullest lane that holds one more run, one in use before one that is not."""
        one = self.instance.ways[way]
        rooms = self.room[one.bin]
        lanes = [lane for lane, room in enumerate(rooms) if one.hours <= room * (1 + TOLERANCE) + TOLERANCE]
        return min(lanes, key=lambda lane: rooms[lane], default=None)

    def added_usd(self, way: int, lane: int) -> float:
        one = self.instance.ways[way]
        usd = one.usd
        if not self.of_option[one.option]:
            usd += self.instance.options[one.option].fixed_usd
        if not self.in_lane[one.bin][lane]:
            usd += self.instance.bins[one.bin].lane_usd
        return usd

    def put(self, way: int, lane: int | None = None, runs: int = 1) -> bool:
        one = self.instance.ways[way]
        lane = self.fitting(way) if lane is None else lane
        if lane is None:
            return False
        self.counts[way, lane] = self.counts.get((way, lane), 0) + runs
        self.room[one.bin][lane] -= runs * one.hours
        self.in_lane[one.bin][lane] += runs
        self.of_option[one.option] += runs
        return True

    def cheapest(self, group: int) -> tuple[float, int, int] | None:
        """Return what one more run of a group costs at least, with its way and lane."""
        found = None
        for way in self.ways_of[group]:
            lane = self.fitting(way)
            if lane is not None:
                usd = self.added_usd(way, lane)
                if found is None or usd < found[0]:
                    found = (usd, way, lane)
        return found

    def put_cheapest(self, group: int) -> bool:
        found = self.cheapest(group)
        return found is not None and self.put(found[1], found[2])

    def improve(self) -> None:
        """Move single runs to where they cost less, until none does."""
        for _ in range(20):
            moved = False
            for (way, lane), runs in list(self.counts.items()):
                if not runs:
                    continue
                self.put(way, lane, -1)
                usd, better = self.added_usd(way, lane), self.cheapest(self.instance.ways[way].group)
                if better is not None and better[0] < usd * (1 - 1e-6) - 1e-9:
                    self.put(better[1], better[2])
                    moved = True
                else:
                    self.put(way, lane)
            if not moved:
                return
