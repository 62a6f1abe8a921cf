"""Build the rows of a year of trainings: each machine or service with its yearly cost, compared with owning."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.cost.cloud.bill_lines import local_amount
from planner.decide.campaign.budget import limits_in_usd
from planner.decide.owning.verdict import chance_cheaper, may_be_recommended
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.planned_year import YearOption
from planner.model.answer.reason import Reason, codes_of, text_of
from planner.model.currency import Currency
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import UNCOMMITTED
from planner.model.prices.offer import FAST_KINDS
from planner.model.quantity import Quantity
from planner.quantity.interval import doubted, log_deviation
from planner.speed.estimator.shared_causes import Causes


def with_chances(options: Sequence[YearOption], owning: str) -> tuple[YearOption, ...]:
    """Return the rows with the chance that each costs less than its rival.

    The rival of the machine in question (`owning`) is the cheapest other option that may be recommended. The rival of
    all other options is that machine.
    """
    own = next(option for option in options if option.id == owning)
    others = [option for option in options if option.id != owning and may_be_recommended(option)]
    rival = min(others, key=by_cost, default=None)

    def with_chance(option: YearOption) -> YearOption:
        other = rival if option.id == owning else own
        if option.usd_per_year is None or own.usd_per_year is None:
            return option
        owning_cheaper = None if option.id == owning else chance_cheaper(own, option)
        option = option.model_copy(update={"chance_owning_cheaper": owning_cheaper})
        if other is None or other.usd_per_year is None or option.why_not is not None:
            return option
        chance = chance_cheaper(option, other)
        return option.model_copy(update={"chance_costs_less": chance, "costs_less_than": other.id})

    return tuple(with_chance(option) for option in options)


def pay_as_you_go(rents: Sequence[YearOption]) -> str | None:
    """Return the id of the cheapest firm option without a term; if there is none, of the cheapest firm option."""
    firm = [rent for rent in rents if rent.firm]
    return cheapest([rent for rent in firm if rent.price_kind in UNCOMMITTED]) or cheapest(firm)


def year_option(
    currency: Currency | None,
    option: OptionEstimate,
    reasons: Sequence[Reason],
    *,
    year: Quantity | None = None,
    own: Quantity | None = None,
    hourly: float = 0.0,
    sets: int = 1,
) -> YearOption:
    """Return a row. `own` is the yearly cost of the machine in question, and None in its own row.

    `hourly` is the growth of the cost with the hours of a training, in percent per percent. `sets`: how many of the
    option's machines the year takes.
    """
    assert option.hold is not None, "every option of a new answer has a hold"
    return YearOption(
        id=option.id,
        display_name=f"{sets}x {option.display_name}" if sets > 1 else option.display_name,
        hold=option.hold,
        firm=option.price_kind not in FAST_KINDS,
        price_kind=option.price_kind,
        nodes=None,
        usd_per_year=year,
        local_per_year=None if year is None else local_amount(year, currency),
        above_owning_usd_per_year=None if year is None or own is None else year.value - own.value,
        chance_owning_cheaper=None,
        error_causes=() if year is None else _error_causes(option, year, hourly),
        break_even=None,
        usd_at_once=None,
        price_stale=bool(option.price_stale),
        price_refreshed=option.price_refreshed,
        why_not=text_of(reasons),
        why_not_codes=codes_of(reasons),
    )


def _error_causes(option: OptionEstimate, year: Quantity, hourly: float) -> Causes:
    """Return the causes of the error of a year's cost: those of its hours, and one for the rest of its range."""
    band = doubted(year)
    if band.value <= 0 or band.high <= band.value:
        return ()
    whole = log_deviation(band._replace(low=max(band.low, band.value / 100)))
    of_hours = [(name, hourly * sd) for name, sd in option.error_causes if hourly * sd > 0]
    grown = math.hypot(*(sd for _, sd in of_hours))
    fitting = [(name, sd * min(1.0, whole / grown)) for name, sd in of_hours]
    rest = math.sqrt(max(0.0, whole**2 - grown**2))
    return tuple((name, sd) for name, sd in (*fitting, (f"year {option.id}", rest)) if sd > 0)


def committed_to(plan: Plan, *, at_once: float | None = None, ahead: float | None = None) -> dict[str, object]:
    """Return what a purchase takes at once or a prepaid rent commits to, and whether it is over the plan's budget."""
    budget, usd = limits_in_usd(plan.campaign, plan.currency).budget_usd, ahead if at_once is None else at_once
    over = usd is not None and budget is not None and usd > budget
    return {"usd_at_once": at_once, "usd_committed": ahead, "over_budget": over}


def cheapest(options: Sequence[YearOption]) -> str | None:
    """Return the id of the cheapest option that has a cost and is not ruled out; None if there is none."""
    known = [option for option in options if option.usd_per_year is not None and option.why_not is None]
    return min(known, key=by_cost).id if known else None


def by_cost(option: YearOption) -> tuple[bool, float]:
    """Return a sort key: the cost of the year, with options last that are ruled out or have no cost."""
    year = option.usd_per_year
    return option.why_not is not None or year is None, year.value if year is not None else math.inf
