"""Machines of one pool on which lanes of several widths take turns: a run on two nodes, then two runs on one each."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

from planner.decide.placement.instance import Bin, Instance


def taking_turns(instance: Instance, *, held: set[str]) -> Instance:
    """Return the instance with a bin for each lane of shared pools, and the numbers of its machines.

    Not of pools in `held`, whose machines others take at times, nor where a width does not divide the next: there a
    lane that is used has its machines for all of its window.
    """
    shared = {pool for pool in instance.pools if pool not in held and _nested(instance, pool)}
    if not shared:
        return instance
    bins: list[Bin] = []
    places: dict[int, list[int]] = {}
    for number, spot in enumerate(instance.bins):
        split = spot.pool in shared
        places[number] = list(range(len(bins), len(bins) + (spot.lanes if split else 1)))
        for lane, place in enumerate(places[number]):
            alone = replace(spot, lanes=1, first=lane * spot.nodes) if split else spot
            bins.append(replace(alone, origin=place))
    ways = tuple(replace(way, bin=place) for way in instance.ways for place in places[way.bin])
    return replace(instance, bins=tuple(bins), ways=ways)


def turns(instance: Instance) -> list[list[int]]:
    """Return the bins that take turns on each machine in one window; those that do so on several machines once."""
    found: dict[tuple[str, float, float], list[int]] = defaultdict(list)
    for number, spot in enumerate(instance.bins):
        for name in spot.machines:
            found[name, spot.opens, spot.closes].append(number)
    return [list(bins) for bins in dict.fromkeys(tuple(bins) for bins in found.values()) if len(bins) > 1]


def apart(instance: Instance) -> list[tuple[int, int]]:
    """Return pairs of bins of which only one can be used: they share machines, in windows that differ and overlap."""
    pairs = []
    for one, first in enumerate(instance.bins):
        for other in range(one):
            second = instance.bins[other]
            same = (first.opens, first.closes) == (second.opens, second.closes)
            overlap = first.opens < second.closes and second.opens < first.closes
            if not same and overlap and not set(first.machines).isdisjoint(second.machines):
                pairs.append((one, other))
    return pairs


def _nested(instance: Instance, pool: str) -> bool:
    widths = sorted({spot.nodes for spot in instance.bins if spot.pool == pool})
    return all(wide % narrow == 0 for narrow, wide in pairwise(widths))
