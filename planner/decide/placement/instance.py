"""The solver's question and answer in plain numbers: runs, lanes of machines, what a run takes and costs there."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from planner.cost.cloud.billing_terms import BillingTerms, priced_hours


class Objective(StrEnum):
    """The quantity that a plan minimizes."""

    COST = "cost"
    """The cheapest plan within the limits; among equally cheap plans the fastest."""
    TIME = "time"
    """The fastest plan within the limits; among equally fast plans the cheapest."""
    FRONT = "front"
    """Every plan that no other plan beats in both cost and time."""


@dataclass(frozen=True)
class Group:
    """A number of equal runs."""

    runs: int
    phase: int = 0
    """Runs of a phase start after all runs of the previous phase have ended."""


class SoldBlock(NamedTuple):
    """Hours that are bought at once, and the hours of them in which machines can be used."""

    hours: float
    usable_hours: float


@dataclass(frozen=True)
class Bin:
    """Equal lanes in one window of time. A lane is a set of machines that does its runs one after another."""

    lanes: int
    opens: float = 0.0
    """Hours after the campaign's start."""
    closes: float = math.inf
    pool: str | None = None
    """Name of the machines that this bin shares with bins of other widths. `Instance.pools` limits their use."""
    nodes: int = 1
    """Nodes of one lane."""
    lane_usd: float = 0.0
    """Price of each lane in use: a purchase, or a block with a window of its own."""
    usd_per_hour: float = 0.0
    """Hourly price of one lane that is bought for a term. See `term_usd`."""
    least_hours: float = 0.0
    """Hours of a term that are paid for each lane in use, even if its runs take less."""
    after_factor: float = 1.0
    """Price of an hour after the least hours, as a multiple of `usd_per_hour` (`BillingTerms.after_factor`)."""
    blocks: tuple[SoldBlock, ...] = ()
    """Blocks in which hours are sold, in ascending order. Each lane in use buys one."""
    origin: int | None = None
    """Index of the bin in the original question, which its separated lanes share."""

    @property
    def by_term(self) -> bool:
        """Return whether hours are bought for a lane and not for each run."""
        return self.usd_per_hour > 0

    def term_usd(self, billed_hours: float) -> float:
        """Return the price of a lane's term for these billed hours; infinite if no block is long enough.

        term: USD/h x `priced_hours`; block: USD/h x hours of the shortest block with enough usable hours
        """
        if not self.by_term or billed_hours <= 0:
            return 0.0
        if not self.blocks:
            terms = BillingTerms(minimum_hours=self.least_hours, after_factor=self.after_factor)
            return self.usd_per_hour * priced_hours(billed_hours, terms)
        return self.usd_per_hour * self.block_for(billed_hours).hours

    def block_for(self, billed_hours: float) -> SoldBlock:
        """Return the shortest block with enough usable hours; an infinite one if no block is long enough."""
        fitting = (block for block in self.blocks if billed_hours <= block.usable_hours * (1 + TOLERANCE))
        return next(fitting, SoldBlock(math.inf, math.inf))


@dataclass(frozen=True)
class Way:
    """One way to do a group's runs: on which option, in which bin, and at which time and cost."""

    group: int
    option: int
    bin: int
    hours: float
    """Hours of one run until the next can start."""
    usd: float
    """Cost of one run, without the costs of its lane and option."""
    billed_hours: float = 0.0
    """Hours of one run that count towards a term, a block or an allocation."""


@dataclass(frozen=True)
class Option:
    """Costs and limits of an option as a whole."""

    fixed_usd: float = 0.0
    """Cost of using the option at all, whatever the number of its runs."""
    most_node_hours: float = math.inf
    """Node-hours of its allocation."""
    credits: str | None = None
    """Provider whose credits pay its bill."""
    cost_factor: float = 1.0
    """Factor on its cost in the comparison with the budget: the cost stays below this with the confidence."""


@dataclass(frozen=True)
class Instance:
    """One question to the solver."""

    groups: tuple[Group, ...]
    options: tuple[Option, ...]
    bins: tuple[Bin, ...]
    ways: tuple[Way, ...]
    pools: dict[str, int]
    """Nodes of each pool."""
    deadline: float = math.inf
    """Hours after the campaign's start."""
    budget: float = math.inf
    """Limit of the USD that remain to pay if each option costs `cost_factor` times its cost."""
    most_usd: float = math.inf
    """Limit of the USD that remain to pay at the costs themselves."""
    waiting_usd_per_hour: float = 0.0
    """Value to the user of one hour less until the last run ends. It weighs in the objective but is no cost."""
    credits: dict[str, float] | None = None
    """USD of credits by provider."""

    @property
    def phases(self) -> int:
        """Return the number of phases."""
        return 1 + max((group.phase for group in self.groups), default=0)


@dataclass(frozen=True)
class RunsOnLane:
    """Runs of one way on one lane of its bin."""

    way: int
    lane: int
    runs: int


@dataclass(frozen=True)
class Solution:
    """Runs on lanes, with their cost and duration."""

    instance: Instance
    """The question, perhaps with separated lanes: the ways of `placed` are those of this instance."""
    placed: tuple[RunsOnLane, ...]
    usd: float
    """Sum that the bills grow by."""
    to_pay: float
    """Sum that the bills grow by, less credits."""
    ends: tuple[float, ...]
    """Hours after the start at which each phase ends."""
    lane_ends: Mapping[tuple[int, int], float]
    """Hours after the start at which the last run of each (bin, lane) ends."""
    bound: float = -math.inf
    """Lower bound on the objective of every plan, in USD or hours."""
    gap: float = 0.0
    """(value - bound) / value of the objective."""

    @property
    def hours(self) -> float:
        """Return the hours from the start to the end of the last run."""
        return self.ends[-1]


TOLERANCE = 1e-9
"""Relative tolerance with which a run still fits its window."""


def relative_gap(value: float, bound: float) -> float:
    """Return how far a value lies above its lower bound, as a share of the value."""
    return max(0.0, value - bound) / value if value > 0 else 0.0


def evaluate(instance: Instance, placed: Sequence[RunsOnLane], *, bound: float = -math.inf) -> Solution | None:
    """Return the plan with its cost and times; None if a run ends after its window has closed.

    A lane starts a phase when the previous phase has ended on all lanes, and not before the lane opens.
    """
    lanes = by_lane(instance, placed)
    ends: list[float] = []
    lane_ends: dict[tuple[int, int], float] = {}
    for phase in range(instance.phases):
        phase_end = before = ends[-1] if ends else 0.0
        for lane, on_lane in lanes.items():
            runs = [(instance.ways[each.way], each.runs) for each in on_lane]
            load = sum(way.hours * count for way, count in runs if instance.groups[way.group].phase == phase)
            if load > 0:
                end = max(before, instance.bins[lane[0]].opens) + load
                if end > instance.bins[lane[0]].closes + TOLERANCE * max(1.0, end):
                    return None
                lane_ends[lane], phase_end = end, max(phase_end, end)
        ends.append(phase_end)
    spent = option_usd(instance, placed)
    remaining = _to_pay(instance, spent)
    return Solution(instance, tuple(placed), sum(spent.values()), remaining, tuple(ends), lane_ends, bound)


def in_budget(instance: Instance, placed: Sequence[RunsOnLane]) -> bool:
    """Return whether a plan stays within `budget` at costs times `cost_factor`, and within `most_usd` at the costs."""
    spent = option_usd(instance, placed)
    surely = {option: usd * instance.options[option].cost_factor for option, usd in spent.items()}
    return _to_pay(instance, spent) <= instance.most_usd and _to_pay(instance, surely) <= instance.budget


def in_allocations(instance: Instance, placed: Sequence[RunsOnLane]) -> bool:
    """Return whether the runs of each option stay within the node-hours of its allocation."""
    used: defaultdict[int, float] = defaultdict(float)
    for each in placed:
        way = instance.ways[each.way]
        used[way.option] += each.runs * way.billed_hours * instance.bins[way.bin].nodes
    return all(hours <= instance.options[option].most_node_hours * (1 + TOLERANCE) for option, hours in used.items())


def option_usd(instance: Instance, placed: Sequence[RunsOnLane]) -> dict[int, float]:
    """Return the sum that each option's runs add to the bills. The first option on a shared lane pays for the lane."""
    usd: dict[int, float] = {}
    for each in placed:
        way = instance.ways[each.way]
        usd[way.option] = usd.get(way.option, instance.options[way.option].fixed_usd) + way.usd * each.runs
    for (place, _), on_lane in by_lane(instance, placed).items():
        hours = sum(instance.ways[each.way].billed_hours * each.runs for each in on_lane)
        usd[instance.ways[on_lane[0].way].option] += instance.bins[place].lane_usd + instance.bins[place].term_usd(
            hours
        )
    return usd


def by_lane(instance: Instance, placed: Sequence[RunsOnLane]) -> Mapping[tuple[int, int], list[RunsOnLane]]:
    """Return the runs of each lane in use, by (bin, lane)."""
    lanes: defaultdict[tuple[int, int], list[RunsOnLane]] = defaultdict(list)
    for each in placed:
        lanes[instance.ways[each.way].bin, each.lane].append(each)
    return lanes


def _to_pay(instance: Instance, spent: Mapping[int, float]) -> float:
    """Return the sum over payers of max(0, cost - credits)."""
    by_payer: defaultdict[str | None, float] = defaultdict(float)
    for option, usd in spent.items():
        by_payer[instance.options[option].credits] += usd
    credits = instance.credits or {}
    return sum(max(0.0, usd - credits.get(payer or "", 0.0)) for payer, usd in by_payer.items())
