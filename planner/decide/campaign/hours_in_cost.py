"""How far the cost of a campaign errs with its hours: wholly where it is paid by the hour, not at all for a block."""

from __future__ import annotations

import math

from planner.cost.cloud.bill import COMMITMENT, COMPUTE, LOST, PRACTICE, UNUSED
from planner.cost.ownership.owned_bill import ELECTRICITY
from planner.model.answer.option_estimate import CampaignOption
from planner.quantity.interval import Interval

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


def correlation(option: CampaignOption, hours: Interval, usd: Interval) -> float:
    """Return the correlation of the logarithms of an option's hours and cost.

    r = s / S;  s = ln(1 - share + share x high hours / hours), S = ln(high cost / cost): the upper ends, as limits are
    missed there. What else the cost may be off by (its price) is independent of the hours.
    """
    if usd.value <= 0 or usd.high <= usd.value or hours.value <= 0:
        return 1.0  # one of both is certain, so that the chance of both is the smaller one at any correlation
    share = hourly_share(option)
    of_hours = math.log(1 - share + share * hours.high / hours.value)
    return min(1.0, of_hours / math.log(usd.high / usd.value))
