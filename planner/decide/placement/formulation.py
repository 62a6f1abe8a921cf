"""An instance as a mixed-integer program: how many runs of each group go to each bin, and what that asks for."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from planner.decide.placement.instance import TOLERANCE, Bin, Instance, Objective, Way
from planner.decide.placement.milp import Program

Costs = dict[str | None, list[tuple[int, float, float]]]
"""By payer: variable, USD of each, and the factor with which it is held against the budget."""


@dataclass(frozen=True)
class Formulation:
    """The program, with the places of the variables that are read from its solution."""

    program: Program
    runs: tuple[int | None, ...]
    """Of each way; None: no run of it fits."""
    lengths: tuple[int, ...]
    """Of each phase, in hours; empty where no end is asked for."""


def whole_runs(window: float, hours: float) -> float:
    """Return how many runs fit one after another; infinitely many into an open window."""
    if math.isinf(window):
        return math.inf
    return float(math.floor(window / hours * (1 + TOLERANCE) + TOLERANCE)) if window > 0 else 0.0


def formulate(instance: Instance, objective: Objective) -> Formulation | None:
    """Write the program; None where a group has no way at all.

    minimise  USD to pay + USD/h x T  (or T)
    x[w]: runs of way w;  u[b]: whether bin b is used, or how many of its lanes are;  T: end of the last run
      sum of x of a group = its runs
      sum of hours x <= lanes x (window of the bin, at most until the deadline)
      opens u + sum of hours x / lanes <= T,  and of a group alone  opens u + hours ceil(x / lanes) <= T
      with phases: their lengths D add up to T, and each lane's runs of a phase fit into D after it opens
      sum of USD x held <= budget

    A bin of several lanes counts their hours together, which is a relaxation (`lanes.py` puts runs on lanes).
    """
    program = Program()
    timed = objective is Objective.TIME or instance.waiting_usd_per_hour > 0 or instance.phases > 1
    runs = [_run_column(program, instance, way) for way in instance.ways]
    used = [(place, column) for place, column in enumerate(runs) if column is not None]
    of_group: dict[int, list[int]] = defaultdict(list)
    of_bin: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for place, column in used:
        of_group[instance.ways[place].group].append(column)
        of_bin[instance.ways[place].bin].append((place, column))
    for number, group in enumerate(instance.groups):
        if not of_group[number]:
            return None
        program.row([(column, 1.0) for column in of_group[number]], low=group.runs, high=group.runs)
    lengths = _phase_columns(program, instance) if timed else []
    costs: Costs = defaultdict(list)
    in_use: dict[int, int] = {}
    for number, ways in of_bin.items():
        lanes = _bin_rows(program, instance, number, ways, lengths, costs)
        if lanes is not None:
            in_use[number] = lanes
    _twin_rows(program, instance, of_bin)
    _pool_rows(program, instance, in_use)
    _option_rows(program, instance, used, costs)
    paid = _to_pay(program, instance, {payer: [term[:2] for term in terms] for payer, terms in costs.items()})
    if not math.isinf(instance.most_usd):
        program.row(paid, high=instance.most_usd)
    if not math.isinf(instance.budget):
        held = {payer: [(column, usd * factor) for column, usd, factor in terms] for payer, terms in costs.items()}
        program.row(_to_pay(program, instance, held), high=instance.budget)
    if objective is Objective.TIME:
        for length in lengths:
            program.costs[length] += 1.0
    else:
        for column, usd in paid:
            program.costs[column] += usd
        for length in lengths:
            program.costs[length] += instance.waiting_usd_per_hour
    return Formulation(program, tuple(runs), tuple(lengths))


def _run_column(program: Program, instance: Instance, way: Way) -> int | None:
    spot, wanted = instance.bins[way.bin], instance.groups[way.group].runs
    fitting = whole_runs(min(spot.closes, instance.deadline) - spot.opens, way.hours) * spot.lanes
    most = min(float(wanted), fitting)
    return program.column(upper=most, whole=True) if most >= 1 else None


def _to_pay(
    program: Program, instance: Instance, costs: Mapping[str | None, list[tuple[int, float]]]
) -> list[tuple[int, float]]:
    """Return what remains to pay: all costs, less what the credits of their payers hold."""
    paid: list[tuple[int, float]] = []
    for payer, terms in costs.items():
        paid += terms
        held = (instance.credits or {}).get(payer or "", 0.0)
        if held > 0:
            off = program.column(upper=held)
            program.row([*terms, (off, -1.0)], low=0.0)
            paid.append((off, -1.0))
    return paid


def _phase_columns(program: Program, instance: Instance) -> list[int]:
    lengths = [program.column() for _ in range(instance.phases)]
    if not math.isinf(instance.deadline):
        program.row([(length, 1.0) for length in lengths], high=instance.deadline)
    return lengths


def _bin_rows(
    program: Program, instance: Instance, number: int, ways: list[tuple[int, int]], lengths: list[int],
    costs: Costs,
) -> int | None:  # fmt: skip
    """Ask that the runs of a bin fit its window, and count what its lanes cost.

    Return how many lanes are used; None where nothing asks for it.
    """
    spot = instance.bins[number]
    owner = instance.options[instance.ways[ways[0][0]].option]
    window = min(spot.closes, instance.deadline) - spot.opens
    load = [(column, instance.ways[place].hours) for place, column in ways]
    if not (spot.lane_usd or spot.by_term or spot.pool in instance.pools):
        if not math.isinf(window):
            program.row(load, high=spot.lanes * window * (1 + TOLERANCE) + TOLERANCE)
        if lengths:
            _time_rows(program, instance, number, ways, lengths)
        return None
    lanes = program.column(upper=spot.lanes, whole=True)
    if not math.isinf(window):
        program.row([*load, (lanes, -window * (1 + TOLERANCE))], high=TOLERANCE)
    for place, column in ways:
        most = min(whole_runs(window, instance.ways[place].hours), instance.groups[instance.ways[place].group].runs)
        program.row([(column, 1.0), (lanes, -most)], high=0.0)
    if spot.lane_usd:
        costs[owner.credits].append((lanes, spot.lane_usd, owner.held))
    if spot.by_term:
        billed = [(column, instance.ways[place].billed_hours) for place, column in ways]
        bought = _term_rows(program, spot, lanes, billed)
        costs[owner.credits] += [(column, usd, owner.held) for column, usd in bought]
    if lengths:
        _time_rows(program, instance, number, ways, lengths)
    return lanes


def _term_rows(
    program: Program, spot: Bin, lanes: int, billed: list[tuple[int, float]]
) -> list[tuple[int, float]]:  # fmt: skip
    """Return what the hours cost that are bought for the lanes of a bin."""
    if spot.blocks:
        bought = [(program.column(upper=program.upper[lanes], whole=True), block) for block in spot.blocks]
        program.row([*((column, 1.0) for column, _ in bought), (lanes, -1.0)], low=0.0, high=0.0)
        program.row([*billed, *((column, -block.usable_hours) for column, block in bought)], high=TOLERANCE)
        return [(column, spot.usd_per_hour * block.hours) for column, block in bought]
    beyond = program.column()
    program.row([*billed, (lanes, -spot.least_hours), (beyond, -1.0)], high=0.0)
    return [(lanes, spot.usd_per_hour * spot.least_hours), (beyond, spot.usd_per_hour)]


def _time_rows(
    program: Program, instance: Instance, number: int, ways: list[tuple[int, int]], lengths: list[int]
) -> None:
    """Ask that the runs of each phase end with it."""
    spot = instance.bins[number]
    by_phase: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for place, column in ways:
        by_phase[instance.groups[instance.ways[place].group].phase].append((place, column))
    for phase, of_phase in by_phase.items():
        load = [(column, instance.ways[place].hours / spot.lanes) for place, column in of_phase]
        until = [(length, -1.0) for length in lengths[: phase + 1]]
        opens: list[tuple[int, float]] = []
        if spot.opens > 0 or not math.isinf(spot.closes):
            flag = program.column(upper=1.0, whole=True)
            for _, column in of_phase:
                program.row([(column, 1.0), (flag, -program.upper[column])], high=0.0)
            opens = [(flag, spot.opens)]
            if (
                not math.isinf(spot.closes) and phase > 0
            ):  # the runs begin after the phase before, and end in the window
                latest = instance.deadline if not math.isinf(instance.deadline) else _latest(instance)
                before = [(length, 1.0) for length in lengths[:phase]]
                program.row([*before, *load, (flag, latest)], high=spot.closes + latest)
        program.row([*load, (lengths[phase], -1.0)], high=0.0)
        if opens:
            program.row([*load, *opens, *until], high=0.0)
        if spot.lanes > 1:
            for place, column in of_phase:
                waves = program.column(whole=True, upper=instance.groups[instance.ways[place].group].runs)
                hours = instance.ways[place].hours
                program.row([(column, 1.0), (waves, -float(spot.lanes))], high=0.0)
                program.row([(waves, hours), (lengths[phase], -1.0)], high=0.0)
                if opens:
                    program.row([(waves, hours), *opens, *until], high=0.0)


def _twin_rows(program: Program, instance: Instance, of_bin: dict[int, list[tuple[int, int]]]) -> None:
    """Fill lanes alike in order, the fullest first: each plan then has one form."""
    ordered = sorted(of_bin)
    for first, second in pairwise(ordered):
        if instance.bins[first].twins is None or instance.bins[first].twins != instance.bins[second].twins:
            continue
        fuller = [(column, -instance.ways[place].hours) for place, column in of_bin[first]]
        program.row([*fuller, *((c, instance.ways[place].hours) for place, c in of_bin[second])], high=TOLERANCE)


def _latest(instance: Instance) -> float:
    """Return hours by which any sensible plan has ended: all runs, the slowest way, one after another."""
    slowest: dict[int, float] = defaultdict(float)
    for way in instance.ways:
        slowest[way.group] = max(slowest[way.group], way.hours)
    opens = max((spot.opens for spot in instance.bins), default=0.0)
    return opens + sum(slowest[number] * group.runs for number, group in enumerate(instance.groups))


def _pool_rows(program: Program, instance: Instance, in_use: dict[int, int]) -> None:
    """Ask that bins which share machines use no more of them at any time than there are."""
    for pool, machines in instance.pools.items():
        sharing = [number for number in in_use if instance.bins[number].pool == pool]
        for moment in sorted({instance.bins[number].opens for number in sharing}):
            there = [n for n in sharing if instance.bins[n].opens <= moment < instance.bins[n].closes]
            if sum(instance.bins[n].nodes * instance.bins[n].lanes for n in there) > machines:
                program.row([(in_use[n], float(instance.bins[n].nodes)) for n in there], high=machines)


def _option_rows(
    program: Program, instance: Instance, used: list[tuple[int, int]], costs: Costs
) -> None:  # fmt: skip
    """Count what runs and options cost, and hold allocations."""
    of_option: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for place, column in used:
        way = instance.ways[place]
        option = instance.options[way.option]
        costs[option.credits].append((column, way.usd, option.held))
        of_option[way.option].append((place, column))
    for number, ways in of_option.items():
        option = instance.options[number]
        if option.fixed_usd > 0:
            flag = program.column(upper=1.0, whole=True)
            for _, column in ways:
                program.row([(column, 1.0), (flag, -program.upper[column])], high=0.0)
            costs[option.credits].append((flag, option.fixed_usd, option.held))
        if not math.isinf(option.most_node_hours):
            held = [
                (column, instance.ways[place].billed_hours * instance.bins[instance.ways[place].bin].nodes)
                for place, column in ways
            ]
            program.row(held, high=option.most_node_hours)
