"""What a campaign plan says: how many runs go where, from when to when, for how much, and what that rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from planner.model.answer.between_turns import BetweenTurns
from planner.model.answer.cost_by_hours import CostByHours, LastingCredit
from planner.model.answer.training_time import TrainingTime
from planner.model.plan.option_times import Queue, Tries
from planner.model.quantity import Quantity
from planner.quantity.time_units import SECONDS_PER_HOUR


@dataclass(frozen=True)
class PlacedRuns:
    """Equal runs on one lane."""

    group: str
    """Name of their group."""
    runs: int
    work: float
    """Work of one of them, as a share of the plan's `work`."""
    hours: Quantity
    """From the start of one to the start of the next: its launch, where it is rented, its steps and what stops them."""
    phase: int = 0
    """Runs of a phase begin when all runs of the phase before have ended, on every lane: rungs of successive halving.
    Without rungs all are of phase 0."""


@dataclass(frozen=True)
class Lane:
    """One set of machines in one window of time; it runs its trainings one after another."""

    opens: datetime
    """The first moment at which the set can be used: where its option's machines can be had, or others leave it."""
    closes: datetime | None
    """By when its runs must have ended, whatever the deadline: the end of a block, of a grant, or others' turn."""
    runs: tuple[PlacedRuns, ...]
    """In the order in which they run."""
    end: datetime
    """Of the last run, by the middle values."""
    most_hours: float | None = None
    """For how long its machines can be used: what the block that is bought for it holds. None: no block is bought."""

    @property
    def count(self) -> int:
        """Return the number of runs."""
        return sum(placed.runs for placed in self.runs)


@dataclass(frozen=True)
class Placement:
    """The runs that one option does."""

    option: str
    """Its id."""
    name: str
    """What a person calls it."""
    lanes: tuple[Lane, ...]
    nodes: int
    """Of all its lanes that run at the same time."""
    start: datetime
    end: datetime
    """Of the last run, by the middle values."""
    usd: Quantity
    """What its runs add to the bills; of a purchase with what is paid at once."""
    hourly_share: float
    """Of `usd` that grows with the hours that the runs take: none of a purchase, a block, the least term, a service."""
    cost: CostByHours | None
    """Of a term: the bill at other lengths, 1 being the likely one; None where it grows by the hour."""
    payer: str | None
    """Whose credits pay its bill."""
    time: TrainingTime | None
    """Of one training of the plan's `work`: goodput, interruptions to be expected, checkpoint interval, convergence."""
    earliest_start: Quantity | None
    """Hours from the campaign's start until its machines can be had. Its basis says how it is known: quoted, measured
    (observed) or assumed; its range is the 90 % range. None: nobody knows, and the plan counts no wait."""
    queued: Queue | Tries | None
    """From which its waits are drawn, in place of the range."""
    most_hours: float | None
    """For how long one set of machines, or all of them after each other, can be used: what an allocation holds."""
    doubtful: bool
    """Whether it rests on a doubtful measurement: hours may be off by a factor of 1.5 more."""
    price_stale: bool
    price_refreshed: bool | None
    """Whether `planner prices refresh` can renew it; else one asks for a quote."""
    price_cause: str = ""
    """Name of what its price errs by."""
    causes: tuple[tuple[str, float], ...] = ()
    """Causes of the error of its hours, which other options share (`OptionEstimate.error_causes`)."""
    between: BetweenTurns | None = None
    """When its machines are free of others' turns. Set where it does all runs and they are equal: a run may then begin
    in any gap that holds it, also outside its lane."""

    @property
    def closed(self) -> bool:
        """Return whether its machines are taken away at some time, for good."""
        ends = any(lane.closes is not None or lane.most_hours is not None for lane in self.lanes)
        return self.most_hours is not None or (ends and self.between is None)

    @property
    def runs(self) -> int:
        """Return the number of runs on all lanes."""
        return sum(lane.count for lane in self.lanes)


@dataclass(frozen=True)
class CampaignPlan:
    """The chosen plan; times carry their zone."""

    start: datetime
    """From which the hours of the campaign are counted."""
    deadline: datetime | None
    budget_usd: Quantity | None
    confidence: float
    placements: tuple[Placement, ...]
    usd: Quantity
    """Sum over the placements; ranges add end to end."""
    credits: Mapping[str, Sequence[LastingCredit]]
    """What pays before anybody does, by whose bills it pays, with the hours from `start` until which it lasts."""
    hours: Quantity
    """From the start to the end of the last run."""
    gap: float
    """How far the objective may lie above the best possible, as a share of it; 0 where the optimum is proven."""

    @property
    def credits_usd(self) -> float:
        """Return what credits pay of the bills, by the middle values: of each payer's at most all."""
        bills: dict[str, float] = {}
        ends: dict[str, datetime] = {}
        for one in self.placements:
            if one.payer is not None:
                bills[one.payer] = bills.get(one.payer, 0.0) + one.usd.value
                ends[one.payer] = max(one.end, ends.get(one.payer, one.end))
        return sum(min(bill, self._lasting(payer, ends[payer])) for payer, bill in bills.items())

    def _lasting(self, payer: str, end: datetime) -> float:
        hours = (end.astimezone(UTC) - self.start.astimezone(UTC)).total_seconds() / SECONDS_PER_HOUR
        return sum(credit.usd for credit in self.credits.get(payer, ()) if hours <= credit.hours + 1 / SECONDS_PER_HOUR)
