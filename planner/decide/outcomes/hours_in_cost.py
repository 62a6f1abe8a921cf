"""Split the error of a campaign's cost into that of its hours and the rest."""

from __future__ import annotations

import math

from planner.cost.cloud.bill import COMMITMENT, COMPUTE, LOST, PRACTICE
from planner.cost.cloud.bought_hours import UNUSED
from planner.cost.ownership.owned_bill import ELECTRICITY
from planner.model.answer.option_estimate import CampaignOption
from planner.quantity.interval import MOST, Interval

BY_THE_HOUR = frozenset({COMPUTE, LOST, PRACTICE, ELECTRICITY, UNUSED, COMMITMENT})
"""Lines of a bill that grow with the hours of the runs. The commitment of a term grows only beyond the term."""


def hourly_share(option: CampaignOption) -> float:
    """Return the share of an option's cost that grows with the hours of its runs.

    share = lines by the hour / all lines x campaign cost / cash out

    It is 0 of a block (its length is a decision), a window, and a term that is longer than the work.
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
    """Return the range of the error of a cost that its hours do not explain: that of price, power and tariff.

    ln high = sqrt(ln(usd high / usd)^2 - ln(1 - share + share x high of speed)^2), at least 0; low likewise

    A bill multiplies independent errors, whose logarithms add in quadrature (`Interval.times`), so the rest is what
    the error of the hours leaves of the square. `speed` is the range of the factor on the hours, and `share` the part
    of the cost that grows with them.
    """
    if usd.value <= 0:
        return Interval.exact(1.0)

    def rest(end: float, grown: float) -> float:
        whole, of_hours = math.log(max(end / usd.value, 1 / MOST)), math.log(1 - share + share * grown)
        return math.exp(math.sqrt(max(0.0, whole**2 - of_hours**2)))

    return Interval(1.0, max(1 / rest(usd.low, speed.low), 1 / MOST), rest(usd.high, speed.high))
