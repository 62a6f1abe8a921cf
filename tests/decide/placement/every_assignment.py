"""Every way to give the runs of an instance to lanes, counted out by rules of its own: for instances of a few runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from planner.decide.placement.instance import Bin, Instance

MOST_USD = 1e9
"""More is what no block is long enough for."""
Assigned = tuple[tuple[int, int], ...]
"""The way and lane of each run, group by group."""


class AssignmentOutcome(NamedTuple):
    """Of one assignment that keeps every limit."""

    usd: float
    to_pay: float
    hours: float


def every_outcome(instance: Instance) -> list[AssignmentOutcome]:
    """Return what each assignment comes to that keeps deadline, budget, windows, pools and allocations."""
    found = (outcome(instance, assigned) for assigned in _assignments(instance))
    return [one for one in found if one is not None]


def _assignments(instance: Instance) -> Iterator[Assigned]:
    choices = []
    for number, group in enumerate(instance.groups):
        places = [
            (way, lane)
            for way, one in enumerate(instance.ways)
            if one.group == number
            for lane in range(instance.bins[one.bin].lanes)
        ]
        choices += [places] * group.runs
    return product(*choices)


def outcome(instance: Instance, assigned: Assigned) -> AssignmentOutcome | None:
    """Return what an assignment comes to; None where it breaks a limit."""
    ends, last = {}, 0.0
    for phase in range(1 + max(group.phase for group in instance.groups)):
        begin, lanes = last, dict[tuple[int, int], float]()
        for way, lane in assigned:
            one = instance.ways[way]
            if instance.groups[one.group].phase == phase:
                key = (one.bin, lane)
                lanes[key] = lanes.get(key, max(begin, instance.bins[one.bin].opens)) + one.hours
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
    for way, lane in assigned:
        one = instance.ways[way]
        bills[one.option] = bills.get(one.option, instance.options[one.option].fixed_usd) + one.usd
        nodes = instance.bins[one.bin].nodes
        node_hours[one.option] = node_hours.get(one.option, 0.0) + one.billed_hours * nodes
        first_option.setdefault((one.bin, lane), one.option)
        billed[one.bin, lane] = billed.get((one.bin, lane), 0.0) + one.billed_hours
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
    """Return whether no pool lends more machines than it has in any half hour; windows open at whole hours."""
    for pool, machines in instance.pools.items():
        sharing = [instance.bins[place] for place, _ in used if instance.bins[place].pool == pool]
        for moment in range(80):
            hour = moment / 2
            if sum(spot.nodes for spot in sharing if spot.opens <= hour < spot.closes) > machines:
                return False
    return True


def _term_usd(spot: Bin, hours: float) -> float:
    """Return what a lane of a term costs: its least hours at least, or the shortest block that is long enough."""
    if spot.usd_per_hour == 0:
        return 0.0
    if not spot.blocks:
        return spot.usd_per_hour * max(hours, spot.least_hours)
    for block in sorted(spot.blocks):
        if hours <= block.usable_hours + 1e-9:
            return spot.usd_per_hour * block.hours
    return math.inf
