"""Write an instance as a mixed-integer program."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from planner.decide.placement.instance import TOLERANCE, Bin, Instance, Objective, Way
from planner.decide.placement.milp import Program

Costs = dict[str | None, list[tuple[int, float, float]]]
"""Cost terms by payer: variable, USD of each, and `Option.cost_factor`."""
Columns = list[tuple[Way, int]]
"""Ways with the variables that count their runs."""


@dataclass(frozen=True)
class Formulation:
    """A program, with the variables to read from its solution."""

    program: Program
    runs: tuple[int | None, ...]
    """Variable of each way; None if no run of it fits."""
    lengths: tuple[int, ...]
    """Variable of each phase's length in hours; empty if the program needs no times."""


def whole_runs(window: float, hours: float) -> float:
    """Return how many runs of these hours fit into a window one after another; infinite in an open window."""
    if math.isinf(window):
        return math.inf
    return float(math.floor(window / hours * (1 + TOLERANCE) + TOLERANCE)) if window > 0 else 0.0


def formulate(instance: Instance, objective: Objective) -> Formulation | None:
    """Write the program; None if no way of some group fits a run.

    minimize  USD to pay + USD/h x T  (or T)
    x[w]: runs of way w;  u[b]: whether bin b is used, or how many of its lanes are;  T: end of the last run
      sum of x of a group = its runs
      sum of hours x <= lanes x (window of the bin, at most until the deadline)
      opens u + sum of hours x / lanes <= T,  and of a group alone  opens u + hours ceil(x / lanes) <= T
      with phases: their lengths D add up to T, and each lane's runs of a phase fit into D after it opens
      sum of USD x cost factor <= budget

    The hours of a bin's lanes are counted together, which is a relaxation: `small.py` puts the runs on lanes.
    """
    writer = _Writer(instance)
    by_group: defaultdict[int, list[int]] = defaultdict(list)
    by_bin: defaultdict[int, Columns] = defaultdict(list)
    for way, column in writer.used:
        by_group[way.group].append(column)
        by_bin[way.bin].append((way, column))
    for number, group in enumerate(instance.groups):
        if not by_group[number]:
            return None
        writer.program.row([(column, 1.0) for column in by_group[number]], low=group.runs, high=group.runs)
    if objective is Objective.TIME or instance.waiting_usd_per_hour > 0 or instance.phases > 1:
        writer.add_phases()
    lanes = {number: writer.add_bin(instance.bins[number], columns) for number, columns in by_bin.items()}
    writer.order_twins(by_bin)
    writer.share_pools({number: column for number, column in lanes.items() if column is not None})
    writer.add_options()
    writer.add_limits_and_objective(objective)
    return Formulation(writer.program, tuple(writer.runs), tuple(writer.lengths))


class _Writer:
    """An unfinished program, with the variables and cost terms that later rows refer to."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.program = Program()
        self.runs = [self._run_column(way) for way in instance.ways]
        self.used: Columns = [
            (way, column) for way, column in zip(instance.ways, self.runs, strict=True) if column is not None
        ]
        self.lengths: list[int] = []
        self.costs: Costs = defaultdict(list)

    def _window(self, bin_: Bin) -> float:
        return min(bin_.closes, self.instance.deadline) - bin_.opens

    def _run_column(self, way: Way) -> int | None:
        bin_, wanted = self.instance.bins[way.bin], self.instance.groups[way.group].runs
        most = min(float(wanted), whole_runs(self._window(bin_), way.hours) * bin_.lanes)
        return self.program.column(upper=most, whole=True) if most >= 1 else None

    def add_phases(self) -> None:
        """Add the lengths of the phases, which together end by the deadline."""
        self.lengths = [self.program.column() for _ in range(self.instance.phases)]
        if not math.isinf(self.instance.deadline):
            self.program.row([(length, 1.0) for length in self.lengths], high=self.instance.deadline)

    def add_bin(self, bin_: Bin, columns: Columns) -> int | None:
        """Require that a bin's runs fit its window, and add the cost of its lanes.

        Return the variable that counts its lanes in use; None if nothing depends on their number.
        """
        program, window = self.program, self._window(bin_)
        load = [(column, way.hours) for way, column in columns]
        lanes = None
        if not (bin_.lane_usd or bin_.by_term or bin_.pool in self.instance.pools):
            if not math.isinf(window):
                program.row(load, high=bin_.lanes * window * (1 + TOLERANCE) + TOLERANCE)
        else:
            lanes = program.column(upper=bin_.lanes, whole=True)
            if not math.isinf(window):
                program.row([*load, (lanes, -window * (1 + TOLERANCE))], high=TOLERANCE)
            for way, column in columns:
                most = min(whole_runs(window, way.hours), self.instance.groups[way.group].runs)
                program.row([(column, 1.0), (lanes, -most)], high=0.0)
            owner = self.instance.options[columns[0][0].option]
            if bin_.lane_usd:
                self.costs[owner.credits].append((lanes, bin_.lane_usd, owner.cost_factor))
            if bin_.by_term:
                bought = self._term_usd(bin_, lanes, [(column, way.billed_hours) for way, column in columns])
                self.costs[owner.credits] += [(column, usd, owner.cost_factor) for column, usd in bought]
        if self.lengths:
            by_phase: defaultdict[int, Columns] = defaultdict(list)
            for way, column in columns:
                by_phase[self.instance.groups[way.group].phase].append((way, column))
            for phase, of_phase in by_phase.items():
                self._end_with_phase(bin_, phase, of_phase)
        return lanes

    def _term_usd(self, bin_: Bin, lanes: int, billed: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """Return the cost terms of the hours that are bought for a bin's lanes."""
        program = self.program
        if bin_.blocks:
            bought = [(program.column(upper=program.upper[lanes], whole=True), block) for block in bin_.blocks]
            program.row([*((column, 1.0) for column, _ in bought), (lanes, -1.0)], low=0.0, high=0.0)
            usable = [(column, -block.usable_hours) for column, block in bought]
            program.row([*billed, *usable], high=TOLERANCE)
            return [(column, bin_.usd_per_hour * block.hours) for column, block in bought]
        of_term, hours = bin_.usd_per_hour * bin_.least_hours, [(lanes, -bin_.least_hours)]
        costs = [(lanes, of_term)]
        if bin_.after_factor > 1:  # more terms, one after another
            again = program.column(whole=True)
            hours.append((again, -bin_.least_hours))
            costs.append((again, of_term))
        if not math.isinf(bin_.after_factor):
            beyond = program.column()
            hours.append((beyond, -1.0))
            costs.append((beyond, bin_.usd_per_hour * bin_.after_factor))
        program.row([*billed, *hours], high=0.0)
        return costs

    def _end_with_phase(self, bin_: Bin, phase: int, columns: Columns) -> None:
        """Require that a bin's runs of a phase end with it."""
        program, deadline = self.program, self.instance.deadline
        load = [(column, way.hours / bin_.lanes) for way, column in columns]
        length, until = self.lengths[phase], [(length, -1.0) for length in self.lengths[: phase + 1]]
        opens: list[tuple[int, float]] = []
        if bin_.opens > 0 or not math.isinf(bin_.closes):
            in_use = self._flag([column for _, column in columns])
            opens = [(in_use, bin_.opens)]
            if not math.isinf(bin_.closes) and phase > 0:  # runs start after the previous phase and end in the window
                latest = deadline if not math.isinf(deadline) else _latest(self.instance)
                before = [(length, 1.0) for length in self.lengths[:phase]]
                program.row([*before, *load, (in_use, latest)], high=bin_.closes + latest)
        program.row([*load, (length, -1.0)], high=0.0)
        if opens:
            program.row([*load, *opens, *until], high=0.0)
        for way, column in columns if bin_.lanes > 1 else ():
            waves = program.column(whole=True, upper=self.instance.groups[way.group].runs)
            program.row([(column, 1.0), (waves, -float(bin_.lanes))], high=0.0)
            program.row([(waves, way.hours), (length, -1.0)], high=0.0)
            if opens:
                program.row([(waves, way.hours), *opens, *until], high=0.0)

    def _flag(self, columns: Sequence[int]) -> int:
        """Add a variable that is 1 if any of these is above 0."""
        flag = self.program.column(upper=1.0, whole=True)
        for column in columns:
            self.program.row([(column, 1.0), (flag, -self.program.upper[column])], high=0.0)
        return flag

    def order_twins(self, by_bin: Mapping[int, Columns]) -> None:
        """Fill the separated lanes of a bin in order, the fullest first, so that each plan has one form."""
        bins = self.instance.bins
        for first, second in pairwise(sorted(by_bin)):
            if bins[first].origin is not None and bins[first].origin == bins[second].origin:
                fuller = [(column, -way.hours) for way, column in by_bin[first]]
                self.program.row([*fuller, *((column, way.hours) for way, column in by_bin[second])], high=TOLERANCE)

    def share_pools(self, in_use: Mapping[int, int]) -> None:
        """Require that bins with common machines never use more of them than there are.

        `in_use` holds the variables that count their lanes.
        """
        bins = self.instance.bins
        for pool, machines in self.instance.pools.items():
            sharing = [number for number in in_use if bins[number].pool == pool]
            for moment in sorted({bins[number].opens for number in sharing}):
                open_then = [n for n in sharing if bins[n].opens <= moment < bins[n].closes]
                if sum(bins[n].nodes * bins[n].lanes for n in open_then) > machines:
                    self.program.row([(in_use[n], float(bins[n].nodes)) for n in open_then], high=machines)

    def add_options(self) -> None:
        """Add the costs of runs and options, and the limits of allocations."""
        by_option: defaultdict[int, Columns] = defaultdict(list)
        for way, column in self.used:
            option = self.instance.options[way.option]
            self.costs[option.credits].append((column, way.usd, option.cost_factor))
            by_option[way.option].append((way, column))
        for number, columns in by_option.items():
            option = self.instance.options[number]
            if option.fixed_usd > 0:
                in_use = self._flag([column for _, column in columns])
                self.costs[option.credits].append((in_use, option.fixed_usd, option.cost_factor))
            if not math.isinf(option.most_node_hours):
                node_hours = [(column, way.billed_hours * self.instance.bins[way.bin].nodes) for way, column in columns]
                self.program.row(node_hours, high=option.most_node_hours)

    def add_limits_and_objective(self, objective: Objective) -> None:
        """Limit the sum that remains to pay, and set what the program minimizes."""
        instance, program = self.instance, self.program
        to_pay = self._to_pay(with_factor=False)
        if not math.isinf(instance.most_usd):
            program.row(to_pay, high=instance.most_usd)
        if not math.isinf(instance.budget):
            program.row(self._to_pay(with_factor=True), high=instance.budget)
        by_time = objective is Objective.TIME
        for column, usd in () if by_time else to_pay:
            program.costs[column] += usd
        for length in self.lengths:
            program.costs[length] += 1.0 if by_time else instance.waiting_usd_per_hour

    def _to_pay(self, *, with_factor: bool) -> list[tuple[int, float]]:
        """Return the terms of what remains to pay: all costs, less at most the credits of their payers."""
        all_terms: list[tuple[int, float]] = []
        for payer, costs in self.costs.items():
            terms = [(column, usd * factor if with_factor else usd) for column, usd, factor in costs]
            all_terms += terms
            credits = (self.instance.credits or {}).get(payer or "", 0.0)
            if credits > 0:
                paid_by_credits = self.program.column(upper=credits)
                self.program.row([*terms, (paid_by_credits, -1.0)], low=0.0)
                all_terms.append((paid_by_credits, -1.0))
        return all_terms


def _latest(instance: Instance) -> float:
    """Return the hours after which every sensible plan has ended: all runs in turn, each in its slowest way."""
    slowest: defaultdict[int, float] = defaultdict(float)
    for way in instance.ways:
        slowest[way.group] = max(slowest[way.group], way.hours)
    opens = max((bin_.opens for bin_ in instance.bins), default=0.0)
    return opens + sum(slowest[number] * group.runs for number, group in enumerate(instance.groups))
