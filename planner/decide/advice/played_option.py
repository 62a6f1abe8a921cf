"""One option's campaign as a stream of runs, to be played through."""

from __future__ import annotations

import math

from planner.decide.campaign.chances import campaign_range
from planner.decide.simulation.campaigns import Stream
from planner.decide.simulation.stated_time import interruptions_of
from planner.duration.goodput import losses
from planner.model.answer.documents import CampaignOption
from planner.quantity.chance import TAIL, doubted
from planner.quantity.interval import Interval
from planner.quantity.time_units import HOURS_PER_DAY


def stream_of(option: CampaignOption, *, runs: int, hourly_share: float) -> Stream | None:
    """Return the campaign of an option whose time and cost are known; None of others.

    Hours that others use the machine for are spread over the runs. The error of the price is what the range of the
    cost holds beside that of the hours.
    """
    owed = option.to_pay_usd or option.campaign_usd
    if option.time is None or option.campaign_hours is None or owed is None:
        return None
    lost = interruptions_of(option.time)
    launch = option.time.launch_hours.value if option.time.launch_hours else 0.0
    waves = math.ceil(runs / option.at_once)
    run_hours = option.campaign_hours.value / waves
    band = campaign_range(option)
    speed = Interval(1.0, band.low / band.value, band.high / band.value)
    convergence = option.time.convergence
    return Stream(
        option=option.id,
        runs=runs,
        lanes=option.at_once,
        steps_hours=max(0.0, run_hours - launch) / losses(lost).total,
        start_hours=0.0 if option.lead_days else option.wait_hours,
        wait=_lead(option),
        launch_hours=launch,
        lost=lost,
        speed_error=speed,
        convergence=convergence.fraction.value if convergence else 0.0,
        usd=owed.value,
        hourly_share=hourly_share,
        price_error=_rest(doubted(owed), speed, hourly_share),
    )


def _lead(option: CampaignOption) -> Interval:
    return Interval.exact(0.0) if option.lead_days is None else doubted(option.lead_days).scaled(HOURS_PER_DAY)


def _rest(usd: Interval, speed: Interval, share: float) -> Interval:
    """Return the factor by which the cost may be off beside its hours: the rest in quadrature, side by side."""
    if usd.value <= 0:
        return Interval.exact(1.0)
    ends = []
    for end, fast in ((usd.low, speed.low), (usd.high, speed.high)):
        whole = abs(math.log(max(end, usd.value * 1e-6) / usd.value)) / TAIL
        hours = abs(math.log(max(1 - share + share * fast, 1e-6))) / TAIL
        ends.append(math.exp(TAIL * math.sqrt(max(0.0, whole**2 - hours**2))))
    return Interval(1.0, 1 / ends[0], ends[1])
