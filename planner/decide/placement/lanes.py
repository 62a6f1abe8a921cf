"""Runs of a bin put on its lanes."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import replace

from planner.decide.placement.instance import TOLERANCE, Bin, Instance, Placed


def separated(instance: Instance, bins: set[int]) -> Instance:
    """Return the instance with a bin for each lane of some bins: then the program itself puts runs on lanes."""
    kept: list[Bin] = []
    places: dict[int, list[int]] = {}
    for number, spot in enumerate(instance.bins):
        count = spot.lanes if number in bins else 1
        places[number] = list(range(len(kept), len(kept) + count))
        kept += [replace(spot, lanes=1, twins=number)] * count if number in bins else [spot]
    ways = tuple(replace(way, bin=place) for way in instance.ways for place in places[way.bin])
    return replace(instance, bins=tuple(kept), ways=ways)


def on_lanes(
    instance: Instance, counts: Mapping[int, int], *, ends: tuple[float, ...]
) -> tuple[list[Placed], set[int]]:
    """Put runs of ways on lanes, the longest first, each where it ends first; return them, and the bins that overflow.

    `ends`: when each phase must have ended. A bin of one lane takes all of its runs.
    """
    by_bin: dict[int, list[int]] = {}
    for way in counts:
        by_bin.setdefault(instance.ways[way].bin, []).append(way)
    placed: dict[tuple[int, int], int] = {}
    over: set[int] = set()
    for number, ways in by_bin.items():
        spot = instance.bins[number]
        for phase in range(instance.phases):
            begin = max(spot.opens, ends[phase - 1] if phase else 0.0)
            loads = [(begin, lane) for lane in range(spot.lanes)]
            last = min(spot.closes, ends[phase])
            of_phase = [way for way in ways if instance.groups[instance.ways[way].group].phase == phase]
            for way in sorted(of_phase, key=lambda one: -instance.ways[one].hours):
                hours, left = instance.ways[way].hours, counts[way]
                if spot.lanes == 1:
                    loads[0] = (loads[0][0] + hours * left, 0)
                    placed[way, 0] = left
                    continue
                for _ in range(left):
                    load, lane = loads[0]
                    heapq.heapreplace(loads, (load + hours, lane))
                    placed[way, lane] = placed.get((way, lane), 0) + 1
            if max(loads)[0] > last * (1 + TOLERANCE) + 1e-6 and spot.lanes > 1:
                over.add(number)
    return [Placed(way, lane, runs) for (way, lane), runs in placed.items()], over
