"""Add the chances that an option keeps the plan's limits, and its cost and time at the plan's confidence."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING

from planner.duration.calendar import Calendar
from planner.model.answer.option_estimate import CampaignOption
from planner.model.currency import Currency
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import interval
from planner.quantity.formula import named, stated

if TYPE_CHECKING:
    from planner.decide.outcomes.outcomes import Outcomes

MEDIAN = 0.5


def with_chances(
    option: CampaignOption,
    limits: CampaignLimits,
    *,
    budget: Quantity | None,
    today: date,
    currency: Currency | None = None,
    outcomes: Outcomes | None = None,
) -> CampaignOption:
    """Return the option with its chances, and with its cost, hours and last day at the plan's confidence.

    `currency`: the plan's own; the cost is given in it too. `outcomes`: the option's, where they are known.

    chance of the deadline = share of the samples (`planner/decide/outcomes/`) whose last run ends by the end of the
                             deadline's day; of a block or an allocation also within the hours that it holds
    chance of the budget   = share of the samples whose cash out is at most the budget and what credits pay
    chance of both         = share of the samples in which both hold

    The budget is held against what remains to pay. A limit is met where its chance is at least the confidence, and both
    are where the chance of both is. An option whose time is not known meets no deadline.
    """
    from planner.decide.outcomes.option_outcomes import outcomes_of
    from planner.decide.outcomes.outcomes import drawn_budget

    calendar = Calendar.of(limits, today=today)
    outcomes, confidence = outcomes or outcomes_of(option, limits, today=today), limits.confidence
    timed, priced = outcomes.hours is not None, outcomes.usd is not None
    until, drawn = hours_to(limits, today=today), drawn_budget(budget)
    in_time = outcomes.chance_by(until) if timed and limits.deadline is not None else None
    in_budget = outcomes.chance_within(drawn) if priced and budget is not None else None
    hours = outcomes.hours_at(confidence) if timed else None
    timeless = not timed and priced and limits.deadline is None
    both = in_time if in_budget is None else outcomes.chance_of_both(hours=until, budget=drawn)
    if both is None and timed and option.closes_hours is not None:
        both = outcomes.chance_held()
    days = {} if option.queued is None or not timed else _drawn_days(option, outcomes, calendar)
    return option.model_copy(
        update=days
        | {
            "chance_deadline": in_time,
            "chance_budget": in_budget,
            "chance_both": both,
            "usd_confident": _confident_usd(option, outcomes, confidence) if priced else None,
            "local_confident": outcomes.local_at(currency, confidence) if priced and currency is not None else None,
            "hours_confident": hours,
            "waiting_usd": 0.0 if hours is None else (limits.waiting_usd_per_hour or 0.0) * hours,
            "done_by_confident": None if hours is None else calendar.last_day(hours),
            "meets_deadline": reaches(in_time, confidence) if timed else timeless or None,
            "within_budget": reaches(in_budget, confidence) if priced else None,
            "keeps_both": None if both is None else reaches(both, confidence),
        }
    )


def hours_to(limits: CampaignLimits, *, today: date) -> float:
    """Return the hours from the start to the end of the deadline's day; infinite without one, 0 if it has passed."""
    if limits.deadline is None:
        return math.inf
    return max(0.0, Calendar.of(limits, today=today).end_of(limits.deadline))


def ranking_usd(option: CampaignOption) -> float:
    """Return the cost by which options are ranked, in USD: the remaining payment at the confidence, less resale.

    The cost of waiting for the end is added if the plan states one.
    """
    assert option.usd_confident is not None, "it is comparable"
    back = option.taken_off_usd.low if option.taken_off_usd else 0.0
    return max(0.0, option.usd_confident - back) + option.waiting_usd


def _drawn_days(option: CampaignOption, outcomes: Outcomes, calendar: Calendar) -> dict[str, date | float]:
    """Return the likely days and hours in which an option behind a queue is available and done, by the samples' median.

    The mean of a long-tailed wait may lie beyond the day at the confidence.
    """
    assert option.campaign_hours is not None, "its time is known"
    done = outcomes.hours_at(MEDIAN)
    end = calendar.last_day(done)
    ready = calendar.moment(max(0.0, done - option.campaign_hours.value)).date()
    return {"finish": end, "done_by": end, "ready_on": ready, "end_hours": done}


def _confident_usd(option: CampaignOption, outcomes: Outcomes, confidence: float) -> float:
    """Return the USD that this share of the samples does not exceed: the likely cost x the factor at the confidence."""
    usd, name = outcomes.usd_at(confidence), "campaign_usd" if option.cash_usd is None else "cash_usd"
    owed = option.owed_usd
    assert owed is not None, "its cost is known"
    if owed.value <= 0:
        return usd
    explained = f"{confidence * 100:g} % of the simulated campaigns cost at most this many times the likely cost"
    factor = stated("factor_at_confidence", usd / float(owed.value), "", explained)
    likely = interval(owed, Unit.USD, name=name).value
    return named("usd_confident", likely * factor, "USD", "it stays under this with the plan's confidence")


def reaches(chance: float | None, confidence: float) -> bool:
    """Return whether a limit holds with the plan's confidence; a limit that the plan lacks (None) always does.

    The day and the cost at the confidence are quantiles of the same samples. With any tolerance they could lie beyond
    the limits of a plan that counts as kept.
    """
    return chance is None or chance >= confidence
