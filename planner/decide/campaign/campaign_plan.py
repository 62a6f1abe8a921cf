"""Data of a campaign plan: runs of each option with their times, cost and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from planner.model.answer.campaign import BetweenTurns, CostByHours, LastingCredit
from planner.model.answer.training_time import TrainingTime
from planner.model.plan.option_times import Queue, Tries
from planner.model.quantity import Quantity
from planner.quantity.interval import Interval
from planner.quantity.time_units import SECONDS_PER_HOUR


@dataclass(frozen=True)
class LaneRuns:
    """Equal runs on one lane."""

    group: str
    """Name of their group."""
    runs: int
    work: float
    """Work of one run, as a share of the plan's `work`."""
    hours: Quantity
    """Hours from the start of one run to the start of the next: launch if rented, steps and interruptions."""
    phase: int = 0
    """Phase of the runs, a rung of successive halving; it begins when all runs of the phase before have ended.
    Without rungs it is 0."""


@dataclass(frozen=True)
class Lane:
    """One set of machines in one window of time, which runs its trainings one after another."""

    opens: datetime
    """First moment at which the set can be used: its machines are available, and no others use them."""
    closes: datetime | None
    """Moment by which its runs must end, whatever the deadline: the end of a block or grant, or others' turn."""
    runs: tuple[LaneRuns, ...]
    """Runs in their order."""
    end: datetime
    """End of the last run, at the middle values."""
    billed_hours: Interval
    """Hours of its runs that count on the bill of a term."""
    most_hours: float | None = None
    """Usable hours of the block that is bought for it; None if no block is bought."""

    @property
    def count(self) -> int:
        """Return the number of runs."""
        return sum(placed.runs for placed in self.runs)


@dataclass(frozen=True)
class Placement:
    """The runs that one option does."""

    option: str
    """Id of the option."""
    name: str
    """Display name of the option."""
    lanes: tuple[Lane, ...]
    nodes: int
    """Nodes of all lanes that run at the same time."""
    start: datetime
    end: datetime
    """End of the last run, at the middle values."""
    usd: Quantity
    """Cost that its runs add to the bills, with the price of a purchase."""
    hourly_share: float
    """Share of `usd` that grows with the hours of the runs; 0 for a purchase, block or service."""
    rent: CostByHours | None
    """Rent of each lane by its billed hours, for a term and for prices that change; None if it grows with the hours."""
    payer: str | None
    """Provider whose credits pay its bill."""
    time: TrainingTime | None
    """Time of one training of the plan's `work`: goodput, interruptions, checkpoint interval, convergence."""
    earliest_start: Quantity | None
    """Hours from the campaign's start until its machines are available, with the 90 % range. The basis says how it is
    known: quoted, measured (observed) or assumed. None if unknown; the plan then counts no wait."""
    queued: Queue | Tries | None
    """Queue or tries from which its waits are drawn, instead of the range."""
    most_hours: float | None
    """Hours of an allocation, for which its sets of machines can be used in total; None without one."""
    doubtful: bool
    """True if it rests on a doubtful measurement: hours may be wrong by a further factor of 1.5."""
    price_stale: bool
    price_refreshed: bool | None
    """True if `planner prices refresh` can renew the price; otherwise one asks for a quote."""
    price_cause: str = ""
    """Name of the cause of its price's error."""
    causes: tuple[tuple[str, float], ...] = ()
    """Causes of the error of its hours, which other options share (`OptionEstimate.error_causes`)."""
    between: BetweenTurns | None = None
    """Times between others' turns. Set if the option does all runs and they are equal: a run may then begin in any gap
    that holds it, also outside its lane."""

    @property
    def closed(self) -> bool:
        """Return whether its machines are taken away for good at some time."""
        ends = any(lane.closes is not None or lane.most_hours is not None for lane in self.lanes)
        return self.most_hours is not None or (ends and self.between is None)

    @property
    def runs(self) -> int:
        """Return the number of runs on all lanes."""
        return sum(lane.count for lane in self.lanes)


@dataclass(frozen=True)
class CampaignPlan:
    """Chosen plan; times carry their zone."""

    start: datetime
    """Moment from which the hours of the campaign are counted."""
    deadline: datetime | None
    budget_usd: Quantity | None
    confidence: float
    placements: tuple[Placement, ...]
    usd: Quantity
    """Sum over the placements; ranges add end to end."""
    credits: Mapping[str, Sequence[LastingCredit]]
    """Credits by the provider whose bills they pay, with the hours from `start` for which they last."""
    hours: Quantity
    """Hours from the start to the end of the last run."""
    gap: float | None
    """Largest distance of the objective from the optimum, as a share of it; 0 if the optimum is proven."""

    @property
    def credits_usd(self) -> float:
        """Return the part of the bills that credits pay, at the middle values."""
        bills: dict[str, float] = {}
        ends: dict[str, datetime] = {}
        for placed in self.placements:
            if placed.payer is not None:
                bills[placed.payer] = bills.get(placed.payer, 0.0) + placed.usd.value
                ends[placed.payer] = max(placed.end, ends.get(placed.payer, placed.end))
        return sum(min(bill, self._lasting(payer, ends[payer])) for payer, bill in bills.items())

    def _lasting(self, payer: str, end: datetime) -> float:
        hours = (end.astimezone(UTC) - self.start.astimezone(UTC)).total_seconds() / SECONDS_PER_HOUR
        return sum(credit.usd for credit in self.credits.get(payer, ()) if hours <= credit.hours + 1 / SECONDS_PER_HOUR)
