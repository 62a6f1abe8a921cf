"""What the solver is given: runs, the machines in their windows, what a run takes and costs there; plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Objective(StrEnum):
    """What a plan is best in."""

    COST = "cost"
    """The cheapest that keeps the limits; of equal ones the fastest."""
    TIME = "time"
    """The fastest within the limits; of equal ones the cheapest."""
    FRONT = "front"
    """All plans of which none is better in both."""


@dataclass(frozen=True)
class Group:
    """Equal runs."""

    runs: int
    phase: int = 0
    """All runs of a phase begin after all runs of the phase before have ended."""


class Block(NamedTuple):
    """Hours that are bought at once, and those of them in which machines can be used."""

    hours: float
    usable_hours: float


@dataclass(frozen=True)
class Bin:
    """Lanes alike: `lanes` sets of machines, each of which runs its trainings one after another in one window."""

    lanes: int
    opens: float = 0.0
    """Hours from the campaign's start."""
    closes: float = math.inf
    pool: str | None = None
    """Machines that bins of several widths share: no more of them are used at any time than there are."""
    nodes: int = 1
    """Of one lane."""
    lane_usd: float = 0.0
    """Of each lane that is used: its purchase, or a block with a window of its own."""
    usd_per_hour: float = 0.0
    """Of a term that is bought once: what each hour beyond `least_hours` costs, of one lane."""
    least_hours: float = 0.0
    """Of a term that is bought once: paid for each lane that is used."""
    blocks: tuple[Block, ...] = ()
    """In which hours are sold; one is bought for each lane that is used."""
    origin: int = 0
    """Its place in the question: lanes that were separated have that of their bin."""
    twins: int | None = None
    """The bin of several lanes that this lane was separated from: such lanes are filled in order, as they are alike."""

    @property
    def by_term(self) -> bool:
        """Return whether the hours of a lane are bought, and not those of a run."""
        return self.usd_per_hour > 0

    def term_usd(self, billed_hours: float) -> float:
        """Return what one lane of a term costs that is used so long; infinite where no block is so long.

        term:  USD/h x max(least hours, hours);  block:  USD/h x the shortest one in which so many can be used
        """
        if not self.by_term or billed_hours <= 0:
            return 0.0
        if not self.blocks:
            return self.usd_per_hour * max(self.least_hours, billed_hours)
        return self.usd_per_hour * self.block_for(billed_hours).hours

    def block_for(self, billed_hours: float) -> Block:
        """Return the shortest block in which so many hours can be used; an infinite one where none is so long."""
        fitting = (one for one in self.blocks if billed_hours <= one.usable_hours * (1 + TOLERANCE))
        return next(fitting, Block(math.inf, math.inf))


@dataclass(frozen=True)
class Way:
    """Runs of a group on an option's machines."""

    group: int
    option: int
    bin: int
    hours: float
    """Of one run, until the next can begin."""
    usd: float
    """Of one run, without what its lane and option cost."""
    billed_hours: float = 0.0
    """Of one run, which count against a term, a block or an allocation."""


@dataclass(frozen=True)
class Option:
    """What using an option costs, however many runs it does, and what it holds."""

    fixed_usd: float = 0.0
    most_node_hours: float = math.inf
    """Of an allocation."""
    credits: str | None = None
    """Whose credits pay its bill."""
    held: float = 1.0
    """Factor on its cost where that is held against the budget: it stays under this with the confidence."""


@dataclass(frozen=True)
class Instance:
    """One question."""

    groups: tuple[Group, ...]
    options: tuple[Option, ...]
    bins: tuple[Bin, ...]
    ways: tuple[Way, ...]
    pools: dict[str, int]
    """Machines of each pool."""
    deadline: float = math.inf
    """Hours from the start."""
    budget: float = math.inf
    """USD that remain to pay, each option's cost times its `held`."""
    most_usd: float = math.inf
    """USD that remain to pay, by the costs themselves."""
    waiting_usd_per_hour: float = 0.0
    """What an hour until the last run's end is worth to the user; it is weighed, and is no cost."""
    credits: dict[str, float] | None = None
    """USD by whose they are."""

    @property
    def phases(self) -> int:
        """Return the number of phases."""
        return 1 + max((group.phase for group in self.groups), default=0)


@dataclass(frozen=True)
class Placed:
    """Runs of one way on one lane of its bin."""

    way: int
    lane: int
    runs: int


@dataclass(frozen=True)
class Solution:
    """Runs on lanes, with what they cost and how long they take."""

    instance: Instance
    """The question, perhaps with lanes apart: ways of `placed` are its own."""
    placed: tuple[Placed, ...]
    usd: float
    """What the bills grow by."""
    to_pay: float
    """The same less credits."""
    hours: float
    """From the start to the end of the last run."""
    ends: tuple[float, ...]
    """Of each phase."""
    bound: float
    """No plan is better than this, in the objective: USD, or hours."""
    gap: float
    """(value - bound) / value of the objective."""


TOLERANCE = 1e-9
"""Relative: a run that ends with its window fits."""


def measured(instance: Instance, placed: Sequence[Placed]) -> tuple[float, float, tuple[float, ...]] | None:
    """Return what a plan costs, what of it remains to pay, and when its phases end; None where a window is too short.

    A lane begins a phase when the phase before has ended everywhere, and not before it opens.
    """
    lanes: dict[tuple[int, int], list[Placed]] = {}
    for one in placed:
        lanes.setdefault((instance.ways[one.way].bin, one.lane), []).append(one)
    ends: list[float] = []
    for phase in range(instance.phases):
        before = ends[-1] if ends else 0.0
        end = before
        for (place, _), of_lane in lanes.items():
            spot = instance.bins[place]
            load = sum(
                instance.ways[one.way].hours * one.runs
                for one in of_lane
                if instance.groups[instance.ways[one.way].group].phase == phase
            )
            if load > 0:
                done = max(before, spot.opens) + load
                if done > spot.closes + TOLERANCE * max(1.0, done):
                    return None
                end = max(end, done)
        ends.append(end)
    spent = option_usd(instance, placed)
    return sum(spent.values()), to_pay(instance, spent), tuple(ends)


def to_pay(instance: Instance, spent: Mapping[int, float]) -> float:
    """Return what remains to pay of each option's cost after credits: max(0, cost - credits), payer by payer."""
    by_payer: dict[str | None, float] = {}
    for option, usd in spent.items():
        payer = instance.options[option].credits
        by_payer[payer] = by_payer.get(payer, 0.0) + usd
    held = instance.credits or {}
    return sum(max(0.0, usd - held.get(payer or "", 0.0)) for payer, usd in by_payer.items())


def in_budget(instance: Instance, placed: Sequence[Placed]) -> bool:
    """Return whether a plan stays in the budget, with `held`, and under `most_usd`, without."""
    spent = option_usd(instance, placed)
    held = {option: usd * instance.options[option].held for option, usd in spent.items()}
    return to_pay(instance, spent) <= instance.most_usd and to_pay(instance, held) <= instance.budget


def option_usd(instance: Instance, placed: Sequence[Placed]) -> dict[int, float]:
    """Return what each option's runs add to the bills; a lane that options share is paid by the first of them."""
    lanes: dict[tuple[int, int], list[Placed]] = {}
    usd: dict[int, float] = {}
    for one in placed:
        way = instance.ways[one.way]
        lanes.setdefault((way.bin, one.lane), []).append(one)
        usd[way.option] = usd.get(way.option, instance.options[way.option].fixed_usd) + way.usd * one.runs
    for (place, _), of_lane in lanes.items():
        spot = instance.bins[place]
        hours = sum(instance.ways[one.way].billed_hours * one.runs for one in of_lane)
        usd[instance.ways[of_lane[0].way].option] += spot.lane_usd + spot.term_usd(hours)
    return usd
