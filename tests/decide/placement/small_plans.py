"""Draw small campaigns as plan files, and find their best placements without the planner."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

FIRST = datetime(2026, 12, 1, tzinfo=UTC)
OFFERS = (
    {"offer": "aws/p4d.24xlarge", "region": "us-east-1"},
    {"offer": "aws/p5en.48xlarge", "region": "us-east-1"},
    {"offer": "aws/p5.48xlarge", "region": "us-east-1"},
    {"offer": "lambda/gpu_8x_h100_sxm5"},
    {"offer": "lambda/gpu_8x_a100_80gb_sxm4"},
)


@dataclass(frozen=True)
class Kind:
    """Equal runs, in units of the plan's work."""

    runs: int
    units: int
    min_nodes: int | None
    max_nodes: int | None
    priority: int

    def takes(self, nodes: int) -> bool:
        return (self.min_nodes or 1) <= nodes <= (self.max_nodes or nodes)


@dataclass(frozen=True)
class SmallMachine:
    """One option: hours of a unit of work, USD an hour of each node, and turns as (opens, closes, nodes)."""

    offer: int
    hours: float
    usd: float
    nodes: int
    quota: int | None
    wait: float | None
    minimum: float | None
    window: tuple[float, float] | None
    taken: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True)
class SmallCampaign:
    """A campaign with limits in days and USD."""

    kinds: tuple[Kind, ...]
    machines: tuple[SmallMachine, ...]
    days: int | None
    budget: float | None
    waiting: float | None
    at_once: int | None
    objective: str


def drawn(seed: int) -> SmallCampaign:
    """Draw up to 6 runs in up to 3 groups, and up to 4 options."""
    draw = random.Random(seed)
    left, kinds = draw.randint(1, 6), list[Kind]()
    while left and len(kinds) < 3:
        runs = left if len(kinds) == 2 else draw.randint(1, left)
        low, high = draw.choice([(None, None), (None, None), (None, 1), (2, None), (1, 2), (None, None)])
        kinds.append(Kind(runs, draw.choice([1, 1, 2, 3]), low, high, draw.choice([0, 0, 5, -3])))
        left -= runs
    machines = tuple(_machine(draw, offer) for offer in draw.sample(range(len(OFFERS)), draw.randint(1, 4)))
    days = draw.choice([None, None, 2, 3, 5, 8])
    at_once = [None, None, 2] if days is None else [1, 1, 2]  # else a late option is planned with more at once
    return SmallCampaign(
        tuple(kinds), machines, days,
        draw.choice([None, None, None, 700.0, 1500.0, 4000.0]), draw.choice([None, None, None, 5.0, 40.0]),
        draw.choice(at_once), draw.choice(["cost", "time"]),
    )  # fmt: skip


def _machine(draw: random.Random, offer: int) -> SmallMachine:
    quota, window = draw.choice([None, None, None, 0, 1, 2, 2, 3, 4]), draw.choice(
        [None, None, None, None, None, (0.0, 24.0), (3.0, 30.0), (10.0, 60.0), (0.0, 7.0)]
    )  # fmt: skip
    taken: tuple[tuple[float, float, int], ...] = ()
    if quota and draw.random() < 0.3:
        opens = float(draw.randint(0, 20))
        taken = ((opens, opens + draw.randint(3, 30), draw.randint(1, quota)),)
    wait, minimum = draw.choice([None, None, 0.0, 6.0, 13.0]), draw.choice([None, None, None, 0.5, 12.0, 30.0])
    return SmallMachine(
        offer, draw.choice([4.0, 5.0, 8.0, 10.0, 20.0]), float(draw.randint(5, 60)), draw.choice([1, 1, 1, 2]), quota,
        None if window else wait, None if window else minimum, window, taken,
    )  # fmt: skip


def plan_of(campaign: SmallCampaign) -> dict[str, Any]:
    """Return the campaign as a plan file."""
    groups = [
        {"name": f"kind {number}", "runs": kind.runs, "priority": kind.priority}
        | ({"work": {"epochs": kind.units, "samples_per_epoch": 36000}} if kind.units > 1 else {})
        | {name: nodes for name, nodes in (("min_nodes", kind.min_nodes), ("max_nodes", kind.max_nodes)) if nodes}
        for number, kind in enumerate(campaign.kinds)
    ]
    limits: dict[str, Any] = {"start": "2026-12-01", "groups": groups, "confidence": 0.5}
    if campaign.days is not None:
        limits["deadline"] = str(date(2026, 12, 1) + timedelta(days=campaign.days - 1))
    given = {"budget_usd": campaign.budget, "waiting_usd_per_hour": campaign.waiting, "at_once": campaign.at_once}
    return {
        "schema_version": 1, "name": "random", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000},
        "campaign": limits | {name: value for name, value in given.items() if value is not None},
        "options": [_option(machine) for machine in campaign.machines],
        "assumptions": {
            "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
            "support_fraction": 0.0,
        },
        "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
    }  # fmt: skip


def _option(machine: SmallMachine) -> dict[str, Any]:
    step = (
        {"batch": 10} | dict.fromkeys(("seconds", "low_seconds", "high_seconds"), machine.hours) | {"basis": "measured"}
    )
    given: dict[str, Any] = {
        "quota": machine.quota, "minimum_hours": machine.minimum,
        "wait_hours": None if machine.wait is None else dict.fromkeys(("value", "low", "high"), machine.wait),
        "window": None if machine.window is None
        else dict(zip(("start", "end"), map(_moment, machine.window), strict=True)),
        "network_gbit_per_s": 400.0 if machine.nodes > 1 else None,
        "taken": [{"start": _moment(a), "end": _moment(b), "nodes": nodes} for a, b, nodes in machine.taken] or None,
    }  # fmt: skip
    option = {"price": "on_demand", "usd_per_hour": machine.usd, "step": step, "nodes": machine.nodes}
    return OFFERS[machine.offer] | option | {name: value for name, value in given.items() if value is not None}


def _moment(hours: float) -> str:
    return (FIRST + timedelta(hours=hours)).isoformat()


Slot = tuple[int, float, float]
"""Machine, with the hours from and until which one set of it is free."""
Load = tuple[int, float, float]
"""Runs, their hours, and their billed hours."""


def best(campaign: SmallCampaign) -> tuple[float, float, float] | None:
    """Return objective, USD and hours of the best placement; None if none keeps the limits."""
    # Waiting that has a price asks for as many sets as help.
    most = 1 if campaign.waiting is None else sum(kind.runs for kind in campaign.kinds)
    slots = [
        (number, *span)
        for number, machine in enumerate(campaign.machines)
        for span in _free(machine, campaign.at_once, most)
    ]
    states: set[tuple[Load, ...]] = {tuple((0, 0.0, 0.0) for _ in slots)}
    for kind in campaign.kinds:
        for _ in range(kind.runs):
            states = {after for before in states for after in _one_more(campaign, kind, slots, before)}
    found = [_value(campaign, slots, state) for state in states]
    return min((value for value in found if value[1] <= (campaign.budget or math.inf) + 1e-9), default=None)


def _free(machine: SmallMachine, at_once: int | None, most: int) -> list[tuple[float, float]]:
    """Return when each set is free: set i while the free nodes are enough for i + 1 sets; `most` without a quota."""
    opens, closes = machine.wait or 0.0, math.inf
    if machine.window is not None:
        opens, closes = machine.window[0], machine.window[1] - 0.5
    sets = at_once or (most if machine.quota is None else max(1, machine.quota // machine.nodes))
    sets = sets if machine.quota is None else min(sets, machine.quota // machine.nodes)
    have = sets * machine.nodes if machine.quota is None else machine.quota
    edges = sorted({opens, *(edge for turn in machine.taken for edge in turn[:2] if opens < edge < closes)})
    found = list[tuple[float, float]]()
    for number in range(sets):
        free = [
            have - sum(nodes for a, b, nodes in machine.taken if a <= edge < b) >= (number + 1) * machine.nodes
            for edge in edges
        ]  # fmt: skip
        ends = [*edges[1:], closes]
        begin = None
        for edge, end, there in zip(edges, ends, free, strict=True):
            begin = edge if there and begin is None else begin if there else None
            last = end == closes or not free[edges.index(end)]
            if there and last and begin is not None:
                found.append((begin, end))
    return found


def _one_more(
    campaign: SmallCampaign, kind: Kind, slots: list[Slot], before: tuple[Load, ...]
) -> set[tuple[Load, ...]]:
    found = set[tuple[Load, ...]]()
    for place, (number, opens, closes) in enumerate(slots):
        machine = campaign.machines[number]
        runs, hours, billed = before[place]
        each = machine.hours * kind.units
        end = opens + hours + each
        if not kind.takes(machine.nodes) or end > min(closes, 24 * (campaign.days or math.inf)) + 1e-9:
            continue
        least = machine.minimum if machine.minimum is not None and machine.minimum <= 1 else 0.0
        after = [*before[:place], (runs + 1, hours + each, billed + max(each, least)), *before[place + 1 :]]
        for same in set(slots):  # equal sets are interchangeable: the fullest first
            places = [n for n, slot in enumerate(slots) if slot == same]
            for n, load in zip(places, sorted((after[n] for n in places), reverse=True), strict=True):
                after[n] = load
        found.add(tuple(after))
    return found


def _value(campaign: SmallCampaign, slots: list[Slot], state: tuple[Load, ...]) -> tuple[float, float, float]:
    usd, last = 0.0, 0.0
    for (number, opens, _), (runs, hours, billed) in zip(slots, state, strict=True):
        machine = campaign.machines[number]
        if runs:
            last = max(last, opens + hours)
            paid = billed if machine.minimum is None or machine.minimum <= 1 else max(billed, machine.minimum)
            if machine.window is not None:
                paid = machine.window[1] - machine.window[0]
            usd += machine.usd * machine.nodes * paid
    weighed = last if campaign.objective == "time" else usd + (campaign.waiting or 0.0) * last
    return round(weighed, 6), round(usd, 6), round(last, 6)
