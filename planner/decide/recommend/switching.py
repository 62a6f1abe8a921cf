"""Find the exchange rates at which the answer changes, for options that are paid in different currencies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from planner.decide.recommend.pareto import hours_of
from planner.decide.recommend.rank import is_feasible
from planner.model.answer.option_estimate import CampaignOption, SwitchingRate
from planner.model.currency import Currency
from planner.model.plan.campaign_limits import CampaignLimits, Prefer
from planner.quantity.time_units import HOURS_PER_YEAR

NEARLY_EQUAL = 1e-9
FACTOR = 2.0
"""Largest factor between today's rate and one that is shown."""
USUAL_MOVE = 0.10
"""Standard deviation of the logarithm of an exchange rate over a year where the plan states no range; assumed, as of
major currencies against the dollar."""
DEVIATIONS = 2.58
"""Standard deviations that hold 99 % of all moves."""


def reach_of(currency: Currency, *, hours: float) -> tuple[float, float]:
    """Return the lowest and highest rate that is likely within these hours, at most a factor of two from today's.

    ends = rate x exp(-+ 2.58 x 0.10 x sqrt(years)), or the ends of the plan's own range if those are wider. Unknown
    hours count as a year.
    """
    years = 1.0 if math.isinf(hours) else hours / HOURS_PER_YEAR
    move = math.exp(DEVIATIONS * USUAL_MOVE * math.sqrt(max(0.0, years)))
    low = min(currency.lowest, currency.per_usd / move)
    high = max(currency.highest, currency.per_usd * move)
    return max(low, currency.per_usd / FACTOR), min(high, currency.per_usd * FACTOR)


def switching_rates(
    recommended: CampaignOption | None,
    options: Sequence[CampaignOption],
    limits: CampaignLimits,
    currency: Currency | None,
) -> tuple[SwitchingRate, ...]:
    """Return the rates at which another feasible option gets as cheap as the recommended one, the nearest first.

    cost(rate) = USD part + local part / rate;  equal where rate = (L1 - L2) / (U2 - U1)

    U is what an option pays in USD, L what it pays in the plan's currency: a price or a tariff in it. A purchase, and
    what owning costs beside electricity, count as USD. All else stays as it is, the budget included. Empty where time
    decides.
    Rates that cannot be met while the recommended option runs are left out (`reach_of`).
    Source: the intersection of the two cost curves.
    """
    if recommended is None or currency is None or limits.prefer is Prefer.TIME:
        return ()
    usd, local = _parts(recommended, currency)
    lowest, highest = reach_of(currency, hours=hours_of(recommended))
    rates = []
    for other in options:
        if other.id == recommended.id or not is_feasible(other):
            continue
        other_usd, other_local = _parts(other, currency)
        if abs(other_usd - usd) <= NEARLY_EQUAL * max(abs(usd), abs(other_usd)):
            continue
        rate = (local - other_local) / (other_usd - usd)
        if lowest <= rate <= highest:
            rates.append(
                SwitchingRate(
                    code=currency.code,
                    per_usd=rate,
                    today_per_usd=currency.per_usd,
                    option=other.id,
                    side="above" if rate > currency.per_usd else "below",
                )
            )
    nearest: dict[str, SwitchingRate] = {}
    for switch in sorted(
        rates, key=lambda rate: max(rate.per_usd, rate.today_per_usd) / min(rate.per_usd, rate.today_per_usd)
    ):
        nearest.setdefault(switch.side, switch)
    return tuple(nearest.values())


def switching_sentences(rates: Sequence[SwitchingRate], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the nearest rate in words; nothing if none changes the answer."""
    return tuple(
        f"{names[rate.option]} is cheaper {rate.side} {rate.per_usd:,.4g} {rate.code} a USD; "
        f"today {rate.today_per_usd:,.4g}."
        for rate in rates[:1]
    )


def _parts(option: CampaignOption, currency: Currency) -> tuple[float, float]:
    """Return the part of the bill in USD and the part in the plan's currency."""
    lines = option.bill.lines if option.bill else ()
    local_usd = sum(line.usd.value for line in lines if line.currency == currency.code)
    total = option.payable_usd.value if option.payable_usd else 0.0
    return total - local_usd, local_usd * currency.per_usd
