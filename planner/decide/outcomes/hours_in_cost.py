"""How the cost of a campaign errs with its hours: wholly where it is paid by the hour, not at all for a block."""

from __future__ import annotations

from planner.cost.cloud.bill import COMMITMENT, COMPUTE, LOST, PRACTICE, UNUSED
from planner.cost.ownership.owned_bill import ELECTRICITY
from planner.model.answer.option_estimate import CampaignOption
from planner.quantity.interval import MOST, Interval

BY_THE_HOUR = frozenset({COMPUTE, LOST, PRACTICE, ELECTRICITY, UNUSED, COMMITMENT})
"""Lines of a bill that grow with the hours of the runs; of a term, beyond it."""


def hourly_share(option: CampaignOption) -> float:
    """Return the share of what an option costs that grows with the hours of its runs.

    share = lines by the hour / all lines x campaign cost / cash out;  0 of a block, whose length is a decision, of a
    window, and of a term that is longer than the work
    """
    bill, usd, cash = option.bill, option.campaign_usd, option.cash_usd
    if bill is None or usd is None or bill.usable_hours is not None or option.smallest_purchase_usd is not None:
        return 0.0
    whole = sum(line.usd.value for line in bill.lines)
    if whole <= 0:
        return 0.0
    hourly = sum(line.usd.value for line in bill.lines if line.what in BY_THE_HOUR) / whole
    of_cash = usd.value / cash.value if cash is not None and cash.value > 0 else 1.0
    return min(1.0, max(0.0, hourly * of_cash))


def error_beyond_hours(usd: Interval, speed: Interval, share: float) -> Interval:
    """Return the factor by which a cost may be off beside its hours: the price's own error.

    high = usd high / usd / (1 - share + share x high of speed), at least 1; low likewise, at most 1

    The ends of a bill multiply those of the hours and of the price, so dividing by the one leaves the other. `speed`:
    the factor on the hours, of which `share` of the cost grows.
    """
    if usd.value <= 0:
        return Interval.exact(1.0)
    low, high = (
        end / usd.value / (1 - share + share * grown) for end, grown in ((usd.low, speed.low), (usd.high, speed.high))
    )
    return Interval(1.0, min(1.0, max(low, 1 / MOST)), max(1.0, high))
