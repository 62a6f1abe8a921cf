"""One option's whole campaign, to be played through."""

from __future__ import annotations

import math

from planner.decide.campaign.campaign_time import CampaignTime
from planner.decide.simulation.campaigns import PlayedOption, side_by_side
from planner.decide.simulation.price_error import price_error
from planner.decide.simulation.stated_time import interruptions_of
from planner.duration.goodput import losses
from planner.model.answer.option_estimate import CampaignOption
from planner.quantity.chance import doubted
from planner.quantity.interval import Interval
from planner.quantity.time_units import HOURS_PER_DAY


def played_option(option: CampaignOption, *, runs: int, hourly_share: float, ahead_days: int) -> PlayedOption | None:
    """Return the campaign of an option whose time and cost are known; None of others.

    Hours that others use the machine for are spread over the runs. The error of the price is what the range of the
    cost holds beside that of the hours. `ahead_days`: from today, when a machine is ordered, to the campaign's first.
    """
    owed = option.to_pay_usd or option.campaign_usd
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
    return PlayedOption(
        option=option.id,
        lanes=side_by_side(runs, option.at_once, steps_hours=steps_hours, opens=opens),
        asked_at=-HOURS_PER_DAY * ahead_days,
        wait=lead or Interval.exact(0.0),
        launch_hours=launch,
        lost=lost,
        speed_error=speed,
        convergence=convergence.fraction.value if convergence else 0.0,
        usd=owed.value,
        hourly_share=hourly_share,
        price_error=price_error(doubted(owed), speed, hourly_share),
        between=between,
    )
