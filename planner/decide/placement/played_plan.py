"""A campaign plan as the simulation plays it."""

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
from planner.model.answer.between_turns import BetweenTurns
from planner.quantity.chance import doubted
from planner.quantity.interval import Interval
from planner.quantity.time_units import SECONDS_PER_HOUR

AT_ONCE = 1e-3
"""Hours: a lane that opens within them of its option's earliest start waits for it."""


def played_plan(plan: CampaignPlan) -> Outcomes:
    """Play the plan through, with the ranges of speeds, prices and waits, interruptions and convergence."""
    return play([_option(plan, one) for one in plan.placements], credits=plan.credits)


def _option(plan: CampaignPlan, one: Placement) -> PlayedOption:
    """Return the part of an option; the error of its speed is that of the hours of its runs.

    Of runs of h hours, of which a launch takes l: steps = (h - l) / losses, as others' use is spread over both.
    """
    timed = TimedOption(one.option, one.time, one.doubtful, one.causes)
    lost, launch = timed.lost, timed.launch_hours
    band = timed.decided(one.lanes[0].runs[0].hours)
    grown = band.scaled(1 / band.value)
    earliest = one.earliest_start.value if one.earliest_start is not None else 0.0
    wait = one.queued or (Interval.exact(0.0) if one.earliest_start is None else doubted(one.earliest_start))
    return PlayedOption(
        option=one.option,
        lanes=tuple(_lane(plan.start, lane, earliest, launch, losses(lost).total, one.between) for lane in one.lanes),
        asked_at=earliest - mean_wait(one.queued) if one.queued is not None else 0.0,
        wait=wait,
        launch_hours=launch,
        lost=lost,
        causes=timed.causes,
        price_cause=one.price_cause,
        speed_error=error_of_steps(band, launch),
        convergence=timed.convergence,
        usd=one.usd.value,
        hourly_share=one.hourly_share,
        price_error=error_beyond_hours(doubted(one.usd), grown, one.hourly_share)
        if one.cost is None
        else price_range(one.cost),
        cost=one.cost,
        payer=one.payer or "",
        most_hours=math.inf if one.most_hours is None else one.most_hours,
        between=one.between,
    )


def _lane(
    start: datetime, lane: Lane, earliest: float, launch: float, total: float, between: BetweenTurns | None
) -> PlayedLane:
    """Return a lane; one that opens when the option's machines can be had opens when that is drawn.

    Runs that begin in whichever gap holds them are bound to none.
    """
    opens = _hours(start, lane.opens)
    batches = [Batch(one.runs, max(0.0, one.hours.value - launch) / total, one.phase) for one in lane.runs]
    if between is not None:
        return PlayedLane(tuple(batches))
    closes = math.inf if lane.closes is None else _hours(start, lane.closes)
    most = math.inf if lane.most_hours is None else lane.most_hours
    return PlayedLane(tuple(batches), opens if opens > earliest + AT_ONCE else 0.0, closes, most)


def _hours(start: datetime, moment: datetime) -> float:
    """Return the hours between; moments of one zone would be subtracted by its clock."""
    return (moment.astimezone(UTC) - start.astimezone(UTC)).total_seconds() / SECONDS_PER_HOUR
