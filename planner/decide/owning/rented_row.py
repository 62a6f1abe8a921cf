"""Build the row of a rented option: the bill of a year's runs, and whether the option holds them."""

from __future__ import annotations

from datetime import date, timedelta

from planner.cost.cloud.allocation import allocation_reasons, first_day
from planner.decide.campaign.campaign import window_reasons
from planner.decide.options.option import EstimatedOption
from planner.decide.owning.year_option import committed_to, year_option
from planner.decide.owning.yearly_cost import RentedWork, rented_a_year
from planner.model.answer.planned_year import YearOption
from planner.model.plan.plan import Plan
from planner.model.quantity import Quantity
from planner.quantity.time_units import DAYS_PER_YEAR


def rented_row(
    plan: Plan, estimated: EstimatedOption, work: RentedWork, *, today: date, own: Quantity | None = None
) -> YearOption:
    """Return the row. `own` is the yearly cost of the machine in question, if there is one.

    A grant or a stated window is ruled out if it does not hold the runs with the plan's confidence.
    """
    option, year = estimated.option, rented_a_year(estimated, work)
    if year is None:
        return year_option(plan.currency, option, option.blocking_reasons or option.reasons, own=own)
    start = max(plan.campaign.start or today, first_day(estimated.price, today=today))
    end = start + timedelta(days=int(DAYS_PER_YEAR) - 1)
    of_allocation = allocation_reasons(estimated.price, bill=year.bill, finish=end, longer=year.longer)
    reasons = (*estimated.limit_reasons, *of_allocation, *window_reasons(estimated, year.hours))
    hourly = 0.0 if estimated.rates is None or estimated.rates.terms.once else 1.0
    row = year_option(plan.currency, option, reasons, year=year.usd_per_year, own=own, hourly=hourly, sets=year.sets)
    return row.model_copy(update=committed_to(plan, ahead=year.committed_usd))
