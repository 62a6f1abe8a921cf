"""Simulate the whole campaign on one option alone, for the chances in every row of an answer."""

from __future__ import annotations

import math
from collections.abc import Set
from dataclasses import dataclass, replace
from datetime import date
from typing import Self

import numpy as np

from planner.cost.cloud.bill import BilledTrainings
from planner.cost.cloud.cost_by_hours import price_range, rent_of_sets
from planner.decide.outcomes.draws import SAMPLES, at_scores, scores
from planner.decide.outcomes.hours_in_cost import error_beyond_hours, hourly_share
from planner.decide.outcomes.learnt import Learnt
from planner.decide.outcomes.outcomes import Outcomes
from planner.decide.outcomes.play import PlayedOption, error_of_steps, play, side_by_side
from planner.decide.outcomes.stated_time import interruptions_of
from planner.duration.between_turns import hours_between
from planner.duration.calendar import Calendar
from planner.duration.goodput import Interruptions, losses
from planner.duration.waits import mean_wait
from planner.model.answer.campaign import BetweenTurns, LastingCredit
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate
from planner.model.answer.training_time import TrainingTime
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.interval import Interval, decided, doubted, sum_of
from planner.quantity.time_units import HOURS_PER_DAY


def outcomes_of(
    option: CampaignOption,
    limits: CampaignLimits,
    *,
    today: date,
    without: Set[str] = frozenset(),
    learnt: Learnt | None = None,
) -> Outcomes:
    """Return the outcomes of the plan's campaign on an option in each sample.

    `without` names causes of error that count as known, such as those that all options share. `learnt` is the result of
    a measurement.
    """
    if option.campaign_hours is None:
        owed = option.owed_usd
        usd = None if owed is None else at_scores(doubted(owed), scores(price_cause(option), "price"))
        return Outcomes(None, usd, np.ones(SAMPLES, dtype=bool))
    ordered = Calendar.of(limits, today=today).ordered(today)
    campaign = _at_known(played_option(option, runs=limits.runs, ordered=ordered), without)
    played = play([campaign], credits=_lasting_credits(option), learnt=learnt)
    return played if option.owed_usd is not None else replace(played, usd=None)  # played_option put 0 in its place


def played_option(option: CampaignOption, *, runs: int, ordered: float = 0.0) -> PlayedOption:
    """Return the campaign of an option whose time is known.

    The hours of other users are spread over the runs. The error of the price is the part of the cost's range that the
    hours do not explain. Hours that are paid ahead are fixed: they either suffice for the runs or do not. `ordered` are
    the hours from the campaign's start at which a machine is ordered, negative if it is ordered before.
    """
    owed, cost, between = option.owed_usd, option.cost_by_hours, option.between_turns
    hours = option.campaign_hours if between is None else between.run_hours
    assert hours is not None, "its time is known"
    lead = None if option.lead_days is None else doubted(option.lead_days).scaled(HOURS_PER_DAY)
    timed = TimedOption.of(option)
    played = timed.played(hours, runs=runs, at_once=option.at_once, between=between,
                          opens=option.wait_hours if lead is None else 0.0)  # fmt: skip
    lanes, share, queued = played.lanes, hourly_share(option), option.queued
    if cost is not None and owed is not None:
        lanes = tuple(replace(lane, billed_hours=cost.run_hours * lane.batches[0].runs) for lane in lanes)
        by_set = BilledTrainings(runs, option.at_once).by_set
        rent = rent_of_sets(cost, {cost.run_hours * each: sets for each, sets in by_set.items()})
        share = min(1.0, rent / owed.value) if owed.value > 0 else 0.0
    if option.closes_hours is not None and between is None:
        lanes = tuple(replace(lane, closes=option.closes_hours) for lane in lanes)
    of_sets = option.bill is not None and option.bill.usable_hours is not None
    if of_sets and option.paid_ahead_hours is not None:  # each set of machines has a block for its own runs
        each = option.paid_ahead_hours / math.ceil(runs / option.at_once)
        lanes = tuple(replace(lane, most_hours=each * lane.batches[0].runs) for lane in lanes)
    together = math.inf if of_sets or option.paid_ahead_hours is None else option.paid_ahead_hours * len(lanes)
    return replace(
        played,
        lanes=lanes,
        # `wait_hours` holds the mean wait in the queue, which `wait` draws again: the rest of it comes before
        ordered_at=(option.wait_hours - mean_wait(queued)) if queued else ordered,
        wait=queued or lead or Interval.exact(0.0),
        usd=owed.value if owed is not None else 0.0,
        hourly_share=share,
        price_error=_price_error(owed, timed.decided(hours), share) if cost is None else price_range(cost),
        price_cause=price_cause(option),
        rent=cost,
        most_hours=together,
    )


def price_cause(option: OptionEstimate) -> str:
    """Return the name of the cause of a price's error: the offer, its region and its kind of price."""
    return option.id if option.offer is None else f"{option.offer} {option.region} {option.price_kind}"


@dataclass(frozen=True)
class TimedOption:
    """An option with a known time, and whether the measurement behind it is doubtful."""

    id: str
    time: TrainingTime | None
    doubtful: bool
    causes: tuple[tuple[str, float], ...] = ()
    """Causes of the error of its hours (`OptionEstimate.error_causes`)."""

    @classmethod
    def of(cls, option: OptionEstimate) -> Self:
        """Return the time of an estimate."""
        return cls(option.id, option.time, bool(option.doubts), option.error_causes)

    @property
    def lost(self) -> Interruptions:
        """Return the interruptions of a run."""
        return Interruptions() if self.time is None else interruptions_of(self.time)

    @property
    def launch_hours(self) -> float:
        """Return the hours of a run before its first step."""
        return self.time.launch_hours.value if self.time is not None and self.time.launch_hours is not None else 0.0

    @property
    def convergence(self) -> float:
        """Return half of the 90 % range of one run's steps from seed and data order alone, as a share of the steps."""
        spread = None if self.time is None else self.time.convergence
        return 0.0 if spread is None else spread.fraction.value

    def decided(self, hours: Quantity) -> Interval:
        """Return hours as a decision counts them: their range is wider if the measurement is doubtful."""
        return decided(hours, doubtful=self.doubtful)

    def played(
        self, hours: Quantity, *, runs: int, at_once: int, between: BetweenTurns | None = None, opens: float = 0.0
    ) -> PlayedOption:
        """Return the runs side by side, without costs. `hours` are those of the campaign, or with `between` of a run.

        A lane is a set of machines for one training at a time; it `opens` at these hours from the campaign's start.
        Waves are the runs that a lane does one after another.

        hours of the steps = (hours / runs one after another - launch) / (1 + hours lost per hour of steps)
        """
        band, lost, launch = self.decided(hours), self.lost, self.launch_hours
        waves = 1 if between is not None else math.ceil(runs / at_once)
        steps_hours = max(0.0, band.value / waves - launch) / losses(lost).total
        return PlayedOption(
            option=self.id,
            lanes=side_by_side(runs, at_once, steps_hours=steps_hours, opens=opens),
            launch_hours=launch,
            lost=lost,
            speed_error=error_of_steps(band, waves * launch),
            causes=self.causes,
            convergence=self.convergence,
            between=between,
        )

    def longer(self, confidence: float, *, runs: int = 1, at_once: int = 1, share: float = 1.0) -> float:
        """Return the factor on the likely hours, launches included, that the runs stay below with this confidence.

        `share` is the work of a run, as a share of the plan's.
        """
        if self.time is None or self.time.wall_hours.value <= 0:
            return 1.0
        parts = [interval(self.time.wall_hours, Unit.HOURS).scaled(share)]
        parts += [interval(self.time.launch_hours, Unit.HOURS)] if self.time.launch_hours else []
        whole = sum_of(parts).scaled(math.ceil(runs / at_once))
        hours = derived(whole, Unit.HOURS, self.time.wall_hours, source=self.time.wall_hours.source)
        return self.hours_at(hours, confidence, runs=runs, at_once=at_once) / hours.value

    def hours_at(
        self,
        hours: Quantity,
        confidence: float,
        *,
        runs: int = 1,
        at_once: int = 1,
        between: BetweenTurns | None = None,
        learnt: Learnt | None = None,
    ) -> float:
        """Return the hours that the runs stay below with this confidence. Hours paid ahead are bought for them."""
        if hours.value <= 0:
            return hours.value
        played = self.played(hours, runs=runs, at_once=at_once, between=between)
        return play([played], learnt=learnt).hours_at(confidence)


def _at_known(option: PlayedOption, causes: Set[str]) -> PlayedOption:
    """Return the option without the error that these causes add to its speed.

    ln of each end x sqrt(variance of the remaining causes / variance of all)
    """
    left = tuple((name, sd) for name, sd in option.causes if name not in causes)
    if len(left) == len(option.causes):
        return option
    share = math.hypot(*(sd for _, sd in left)) / math.hypot(*(sd for _, sd in option.causes))
    low, high = (end**share for end in (option.speed_error.low, option.speed_error.high))
    return replace(option, causes=left, speed_error=Interval(1.0, low, high))


def _price_error(owed: Quantity | None, hours: Interval, share: float) -> Interval:
    if owed is None or hours.value <= 0:
        return Interval.exact(1.0)
    return error_beyond_hours(doubted(owed), hours.scaled(1 / hours.value), share)


def _lasting_credits(option: CampaignOption) -> dict[str, tuple[LastingCredit, ...]]:
    """Return the credits for the option's bill, with the hours after the campaign's start until which they last."""
    credits, between = () if option.cost_by_hours is None else option.cost_by_hours.credits, option.between_turns
    hours = [
        credit.hours if between is None else hours_between(between, np.array([credit.hours]))[0] for credit in credits
    ]
    lasting = zip(credits, hours, strict=True)
    return {"": tuple(each.model_copy(update={"hours": option.wait_hours + float(end)}) for each, end in lasting)}
