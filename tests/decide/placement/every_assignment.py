"""Evaluate every assignment of an instance's runs to lanes, by independent rules. Only for a few runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from planner.decide.placement.instance import Bin, Instance

MOST_USD = 1e9
"""Larger sums mean that no block is long enough."""
Assigned = tuple[tuple[int, int], ...]
"""The way and lane of each run, group by group."""


class AssignmentOutcome(NamedTuple):
    """Cost and hours of an assignment that keeps every limit."""

    usd: float
    to_pay: float
    hours: float


def every_outcome(instance: Instance) -> list[AssignmentOutcome]:
    """Return the outcome of each assignment that keeps deadline, budget, windows, pools and allocations."""
    found = (outcome(instance, assigned) for assigned in _assignments(instance))
    return [each for each in found if each is not None]


def _assignments(instance: Instance) -> Iterator[Assigned]:
    choices = []
    for number, group in enumerate(instance.groups):
        places = [
            (place, lane)
            for place, way in enumerate(instance.ways)
            if way.group == number
            for lane in range(instance.bins[way.bin].lanes)
        ]
        choices += [places] * group.runs
    return product(*choices)


def outcome(instance: Instance, assigned: Assigned) -> AssignmentOutcome | None:
    """Return the outcome of an assignment; None if it breaks a limit."""
    ends, last = {}, 0.0
    for phase in range(1 + max(group.phase for group in instance.groups)):
        begin, lanes = last, dict[tuple[int, int], float]()
        for place, lane in assigned:
            way = instance.ways[place]
            if instance.groups[way.group].phase == phase:
                key = (way.bin, lane)
                lanes[key] = lanes.get(key, max(begin, instance.bins[way.bin].opens)) + way.hours
        for key, end in lanes.items():
            if end > instance.bins[key[0]].closes + 1e-9:
                return None
            ends[key], last = end, max(last, end)
    used = {(instance.ways[way].bin, lane) for way, lane in assigned}
    if last > instance.deadline + 1e-9 or not _machines_suffice(instance, used):
        return None
    bills: dict[int, float] = {}
    node_hours: dict[int, float] = {}
    first_option: dict[tuple[int, int], int] = {}
    billed: dict[tuple[int, int], float] = {}
    for place, lane in assigned:
        way = instance.ways[place]
        bills[way.option] = bills.get(way.option, instance.options[way.option].fixed_usd) + way.usd
        nodes = instance.bins[way.bin].nodes
        node_hours[way.option] = node_hours.get(way.option, 0.0) + way.billed_hours * nodes
        first_option.setdefault((way.bin, lane), way.option)
        billed[way.bin, lane] = billed.get((way.bin, lane), 0.0) + way.billed_hours
    for option, hours in node_hours.items():
        if hours > instance.options[option].most_node_hours + 1e-9:
            return None
    for key, option in first_option.items():
        bills[option] += instance.bins[key[0]].lane_usd + _term_usd(instance.bins[key[0]], billed[key])
    by_payer: dict[str | None, float] = {}
    for option, usd in bills.items():
        payer = instance.options[option].credits
        by_payer[payer] = by_payer.get(payer, 0.0) + usd
    usd = sum(by_payer.values())
    credits = instance.credits or {}
    to_pay = sum(max(0.0, bill - credits.get(payer or "", 0.0)) for payer, bill in by_payer.items())
    return AssignmentOutcome(usd, to_pay, last) if to_pay <= min(instance.budget, MOST_USD) + 1e-6 else None


def _machines_suffice(instance: Instance, used: set[tuple[int, int]]) -> bool:
    """Return whether each pool has enough machines in every half hour. Windows open at whole hours."""
    for pool, machines in instance.pools.items():
        sharing = [instance.bins[place] for place, _ in used if instance.bins[place].pool == pool]
        for moment in range(80):
            hour = moment / 2
            if sum(bin_.nodes for bin_ in sharing if bin_.opens <= hour < bin_.closes) > machines:
                return False
    return True


def _term_usd(bin_: Bin, hours: float) -> float:
    """Return the cost of a lane: the cheapest number of whole terms, with hours on demand, or the shortest block."""
    if bin_.usd_per_hour == 0:
        return 0.0
    if not bin_.blocks:
        if bin_.least_hours == 0:
            return bin_.usd_per_hour * hours
        costs = []
        for terms in range(1, 2 + math.ceil(hours / bin_.least_hours)):
            after = max(0.0, hours - terms * bin_.least_hours)
            costs.append(terms * bin_.least_hours + (after * bin_.after_factor if after else 0.0))
        return bin_.usd_per_hour * min(costs)
    for block in sorted(bin_.blocks):
        if hours <= block.usable_hours + 1e-9:
            return bin_.usd_per_hour * block.hours
    return math.inf
