"""One option's whole campaign, to be played through."""

from __future__ import annotations

import math
from dataclasses import replace

from planner.cost.cloud.cost_by_hours import price_range
from planner.decide.campaign.campaign_time import CampaignTime
from planner.decide.campaign.hours_in_cost import hourly_share
from planner.decide.simulation.campaigns import PlayedOption, side_by_side
from planner.decide.simulation.price_error import price_error
from planner.decide.simulation.stated_time import interruptions_of
from planner.duration.between_turns import hours_between
from planner.duration.goodput import losses
from planner.model.answer.cost_by_hours import LastingCredit
from planner.model.answer.option_estimate import CampaignOption
from planner.quantity.chance import doubted
from planner.quantity.interval import Interval
from planner.quantity.time_units import HOURS_PER_DAY


def played_option(option: CampaignOption, *, runs: int, ahead_days: int) -> PlayedOption | None:
    """Return the campaign of an option whose time and cost are known; None of others.

    Hours that others use the machine for are spread over the runs. The error of the price is what the range of the
    cost holds beside that of the hours. What is paid ahead does not grow with them, and holds the runs or does not.
    `ahead_days`: from today, when a machine is ordered, to the campaign's first.
    """
    owed, cost = option.cash_usd or option.campaign_usd, option.cost_by_hours
    if option.time is None or option.campaign_hours is None or owed is None:
        return None
    lost = interruptions_of(option.time)
    launch = option.time.launch_hours.value if option.time.launch_hours else 0.0
    between, band = option.between_turns, CampaignTime.of(option).work
    run_hours = band.value if between is not None else band.value / math.ceil(runs / option.at_once)
    speed = Interval(1.0, band.low / band.value, band.high / band.value)
    convergence = option.time.convergence
    lead = None if option.lead_days is None else doubted(option.lead_days).scaled(HOURS_PER_DAY)
    opens = option.wait_hours if lead is None else 0.0
    steps_hours = max(0.0, run_hours - launch) / losses(lost).total
    share = hourly_share(option)
    lanes = side_by_side(runs, option.at_once, steps_hours=steps_hours, opens=opens)
    of_sets = option.bill is not None and option.bill.usable_hours is not None
    if of_sets and option.paid_ahead_hours is not None:  # each set has a block for its own runs
        each = option.paid_ahead_hours / math.ceil(runs / option.at_once)
        lanes = tuple(replace(lane, most_hours=each * lane.batches[0].runs) for lane in lanes)
    together = math.inf if of_sets or option.paid_ahead_hours is None else option.paid_ahead_hours * len(lanes)
    return PlayedOption(
        option=option.id,
        lanes=lanes,
        asked_at=-HOURS_PER_DAY * ahead_days,
        wait=lead or Interval.exact(0.0),
        launch_hours=launch,
        lost=lost,
        speed_error=speed,
        convergence=convergence.fraction.value if convergence else 0.0,
        usd=owed.value,
        hourly_share=share,
        price_error=price_error(doubted(owed), speed, share) if cost is None else price_range(cost),
        cost=cost,
        likely_hours=band.value,
        most_hours=together,
        between=between,
    )


def lasting_credits(option: CampaignOption) -> dict[str, tuple[LastingCredit, ...]]:
    """Return what credits pay of the option's bill, with the hours from the campaign's first until which they last."""
    import numpy as np

    credits, between = () if option.cost_by_hours is None else option.cost_by_hours.credits, option.between_turns
    hours = [one.hours if between is None else hours_between(between, np.array([one.hours]))[0] for one in credits]
    lasting = zip(credits, hours, strict=True)
    return {"": tuple(one.model_copy(update={"hours": option.wait_hours + float(each)}) for one, each in lasting)}
