"""Simulate a campaign plan."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from planner.cost.cloud.cost_by_hours import price_range
from planner.decide.campaign.campaign_plan import CampaignPlan, Lane, Placement
from planner.decide.outcomes.hours_in_cost import error_beyond_hours
from planner.decide.outcomes.option_outcomes import TimedOption
from planner.decide.outcomes.outcomes import Outcomes
from planner.decide.outcomes.play import Batch, PlayedLane, PlayedOption, error_of_steps, play
from planner.duration.goodput import losses
from planner.duration.waits import mean_wait
from planner.model.answer.campaign import BetweenTurns
from planner.quantity.interval import Interval, doubted
from planner.quantity.time_units import SECONDS_PER_HOUR

AT_ONCE = 1e-3
"""Hours within which a lane that opens counts as opening at its option's earliest start."""


def played_plan(plan: CampaignPlan) -> Outcomes:
    """Return the plan's outcomes, drawn from the ranges of speeds, prices, waits, interruptions and convergence."""
    return play([_option(plan, placement) for placement in plan.placements], credits=plan.credits)


def _option(plan: CampaignPlan, placement: Placement) -> PlayedOption:
    """Return the part of an option. The error of its speed is that of the hours of its runs."""
    timed = TimedOption(placement.option, placement.time, placement.doubtful, placement.causes)
    lost, launch = timed.lost, timed.launch_hours
    band = timed.decided(placement.lanes[0].runs[0].hours)
    grown = band.scaled(1 / band.value)
    earliest = placement.earliest_start.value if placement.earliest_start is not None else 0.0
    wait = placement.queued or (
        Interval.exact(0.0) if placement.earliest_start is None else doubted(placement.earliest_start)
    )
    return PlayedOption(
        option=placement.option,
        lanes=tuple(
            _lane(plan.start, lane, earliest, launch, losses(lost).total, placement.between) for lane in placement.lanes
        ),
        ordered_at=earliest - mean_wait(placement.queued) if placement.queued is not None else 0.0,
        wait=wait,
        launch_hours=launch,
        lost=lost,
        causes=timed.causes,
        price_cause=placement.price_cause,
        speed_error=error_of_steps(band, launch),
        convergence=timed.convergence,
        usd=placement.usd.value,
        hourly_share=placement.hourly_share,
        price_error=error_beyond_hours(doubted(placement.usd), grown, placement.hourly_share)
        if placement.rent is None
        else price_range(placement.rent),
        rent=placement.rent,
        payer=placement.payer or "",
        most_hours=math.inf if placement.most_hours is None else placement.most_hours,
        between=placement.between,
    )


def _lane(
    start: datetime, lane: Lane, earliest: float, launch: float, total: float, between: BetweenTurns | None
) -> PlayedLane:
    """Return a lane. If it opens with the option's machines, its opening time is drawn with their wait.

    steps = (hours of a run - launch) / losses, as the use by others is spread over both

    Runs between others' turns may begin in any gap, so their lane has no window.
    """
    opens = _hours(start, lane.opens)
    batches = [Batch(runs.runs, max(0.0, runs.hours.value - launch) / total, runs.phase) for runs in lane.runs]
    if between is not None:
        return PlayedLane(tuple(batches), billed_hours=lane.billed_hours.value)
    closes = math.inf if lane.closes is None else _hours(start, lane.closes)
    most = math.inf if lane.most_hours is None else lane.most_hours
    opens = opens if opens > earliest + AT_ONCE else 0.0
    return PlayedLane(tuple(batches), opens, closes, most, lane.billed_hours.value)


def _hours(start: datetime, moment: datetime) -> float:
    """Return the hours from start to moment. Subtraction within one zone would ignore changes of its clock."""
    return (moment.astimezone(UTC) - start.astimezone(UTC)).total_seconds() / SECONDS_PER_HOUR
