"""How sure it is that an option keeps the plan's limits, and what it stays under with the plan's confidence."""

from __future__ import annotations

import math
from bisect import bisect_left
from datetime import date

from planner.cost.cloud.cost_by_hours import chance_within, usd_within
from planner.decide.campaign.campaign_time import CampaignTime
from planner.decide.campaign.hours_in_cost import correlation
from planner.duration.duration import hours_until, last_day, passed_hours
from planner.model.answer.option_estimate import CampaignOption
from planner.model.currency import Currency
from planner.model.plan.plan import CampaignLimits
from planner.model.quantity import Quantity
from planner.quantity.chance import chance_below, chance_of_both, doubted, stays_under
from planner.quantity.formula import named
from planner.quantity.interval import Interval
from planner.quantity.local_currency import rate_of
from planner.quantity.time_units import HOURS_PER_DAY

MOST_CHANCE = 0.9999
ROUNDING = 0.005
"""A chance that is lower by less is as asked for: ranges are not known to half a percent."""


def with_chances(
    option: CampaignOption,
    limits: CampaignLimits,
    *,
    budget: Quantity | None,
    today: date,
    currency: Currency | None = None,
) -> CampaignOption:
    """Return the option with its chances, and with its cost and last day at the plan's confidence.

    `currency`: the plan's own; the cost is given in it too.

    chance of the deadline = P(lead time of what is ordered + campaign hours <= hours to the end of the deadline's day);
                             of a block or an allocation also P(campaign hours <= hours that it holds)
    chance of the budget   = P(cash out <= budget + what credits pay); of a term, and with credits, over all lengths
                             that the campaign may have (`cost_by_hours.py`)
    chance of both         = P(both of these), whose logarithms are normal with the correlation of `hours_in_cost.py`

    The budget is held against what remains to pay. A limit is met where its chance is at least the confidence, and both
    are where the chance of both is. An option whose time is not known meets no deadline. See
    `planner/quantity/chance.py` for the distribution.
    """
    hours, first = option.campaign_hours, limits.start or today
    start = max(first, option.ready_on or first)
    ahead = (first - today).days
    lead = option.lead_days if option.lead_days is not None and option.lead_days.value > ahead else None
    counted_from = today if lead is not None else start
    passed = passed_hours(stated=limits.start, start=counted_from, today=today)
    before = HOURS_PER_DAY * (counted_from - first).days
    before -= passed_hours(stated=limits.start, start=first, today=today) if before > 0 else 0.0
    time = None if hours is None else CampaignTime.of(option)
    until_done = time if time is None or lead is None else time.after(lead)
    usd = None if _owed(option) is None else confident_usd(option, limits.confidence)
    in_time, in_budget = _deadline(until_done, limits, start=counted_from, passed=passed), _budget(option, budget)
    held = None if time is None or option.paid_ahead_hours is None else time.chance_within(option.paid_ahead_hours)
    in_time = in_time if in_time is None or held is None else min(in_time, held)
    both = _both(option, budget, hours=held if in_time is None and in_budget is not None else in_time, usd=in_budget)
    timeless = hours is None and usd is not None and limits.deadline is None
    return option.model_copy(
        update={
            "chance_deadline": in_time,
            "chance_budget": in_budget,
            "chance_both": both,
            "usd_confident": usd,
            "local_confident": None if usd is None or currency is None else _confident_local(option, limits, currency),
            "waiting_usd": _waiting_usd(until_done, limits, before=before),
            "wait_hours": before if lead is None else HOURS_PER_DAY * (lead.value - ahead),
            "done_by_confident": _last_day(until_done, limits, start=counted_from, passed=passed),
            "meets_deadline": (timeless or None) if hours is None else in_time is None or in_time >= limits.confidence,
            "within_budget": None if usd is None else in_budget is None or in_budget >= limits.confidence,
            "keeps_both": None if both is None else both >= limits.confidence - ROUNDING,
        }
    )


def _both(option: CampaignOption, budget: Quantity | None, *, hours: float | None, usd: float | None) -> float | None:
    """Return the chance that it keeps every limit there is: in time, in the budget, and in what is paid ahead."""
    if hours is None or usd is None:
        return usd if hours is None else hours
    assert budget is not None, "its chance is known"
    if option.cost_by_hours is not None:
        whole = Interval(budget.value, budget.low, budget.high)
        return chance_within(option.cost_by_hours, CampaignTime.of(option).work, whole, in_time=hours)
    against = _held_against(option, Interval(budget.value, budget.low, budget.high))[0]
    return chance_of_both(hours, usd, correlation=correlation(option, CampaignTime.of(option).work, against))


def _waiting_usd(until_done: CampaignTime | None, limits: CampaignLimits, *, before: float) -> float:
    """Return what it is worth to wait for the end: USD an hour x the hours that it stays under with the confidence.

    `before`: hours from the campaign's first day to the one from which `until_done` counts, when a grant opens, say.
    """
    each = limits.waiting_usd_per_hour
    return 0.0 if not each or until_done is None else each * max(0.0, before + until_done.hours_at(limits.confidence))


def confident_usd(option: CampaignOption, confidence: float) -> float:
    """Return the USD that remain to pay with this confidence."""
    owed = _owed(option)
    assert owed is not None, "its cost is known"
    if option.cost_by_hours is not None:
        usd = usd_within(option.cost_by_hours, CampaignTime.of(option).work, confidence)
        return named("usd_confident", usd, "USD", "the least budget that the plan's confidence of all lengths keeps")
    usd = stays_under(doubted(owed), confidence)
    return named("usd_confident", usd, "USD", "it stays under this with the plan's confidence")


def _confident_local(option: CampaignOption, limits: CampaignLimits, currency: Currency) -> float:
    """Return the same in the plan's own currency: the least budget in it that is kept with the confidence.

    the quantile of cash out x rate; of a term, and with credits, which are in USD, by bisection in hundredths.
    """
    owed, rate = _owed(option), rate_of(currency)
    assert owed is not None, "its cost is known"
    most = stays_under(doubted(owed).times(rate), limits.confidence)
    if option.cost_by_hours is None:
        return most
    work = CampaignTime.of(option).work
    usd_most = stays_under(rate, MOST_CHANCE) * usd_within(option.cost_by_hours, work, MOST_CHANCE)

    def is_kept(hundredths: int) -> bool:
        budget = rate.inverse().scaled(hundredths / 100)
        return _chance_within(option, budget) >= limits.confidence

    return bisect_left(range(math.ceil(100 * usd_most)), True, key=is_kept) / 100


def _last_day(until_done: CampaignTime | None, limits: CampaignLimits, *, start: date, passed: float) -> date | None:
    if until_done is None:
        return None
    return last_day(start=start, hours=until_done.hours_at(limits.confidence), passed=passed)


def _deadline(until_done: CampaignTime | None, limits: CampaignLimits, *, start: date, passed: float) -> float | None:
    if limits.deadline is None or until_done is None:
        return None
    return until_done.chance_within(hours_until(limits.deadline, start=start, passed=passed))


def _budget(option: CampaignOption, budget: Quantity | None) -> float | None:
    if budget is None or _owed(option) is None:
        return None
    return _chance_within(option, Interval(budget.value, budget.low, budget.high))


def _chance_within(option: CampaignOption, budget: Interval) -> float:
    if option.cost_by_hours is not None:
        return chance_within(option.cost_by_hours, CampaignTime.of(option).work, budget)
    return chance_below(*_held_against(option, budget))


def _held_against(option: CampaignOption, budget: Interval) -> tuple[Interval, float]:
    """Return what must stay under what: the cost under the budget, or its share of a doubtful budget."""
    owed = _owed(option)
    assert owed is not None, "its cost is known"
    if budget.low == budget.high:
        return doubted(owed), budget.value
    return doubted(owed).times(budget.inverse()), 1.0  # a budget in another currency has a range as well


def _owed(option: CampaignOption) -> Quantity | None:
    return option.cash_usd or option.campaign_usd
