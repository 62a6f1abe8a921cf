"""Find the first day on which an option's machine can be used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from planner.cost.cloud.allocation import first_day
from planner.cost.ownership.lead_time import lead_days, lead_time
from planner.decide.options.option import EstimatedOption
from planner.duration.calendar import Calendar
from planner.duration.waits import wait_of
from planner.model.catalog import Catalog
from planner.model.owning.acquisition import Hold
from planner.model.plan.plan_option import PlanOption
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.interval import Interval
from planner.quantity.time_units import HOURS_PER_DAY


@dataclass(frozen=True)
class Ready:
    """First day in the plan's zone, and the lead time of a machine that is ordered today."""

    on: date
    hours: float
    """Hours from the campaign's start until the machine is ready."""
    lead: Quantity | None = None
    note: str | None = None


def ready(estimated: EstimatedOption, catalog: Catalog, calendar: Calendar, *, today: date) -> Ready:
    """Return the option's `ready_on`; else today plus the lead time of a machine that is bought or leased.

    A grant can be used from the day on which its window opens, a block from the moment at which it opens. Waiting for
    a machine starts when the campaign begins.
    """
    candidate = estimated.candidate
    if candidate is None:
        return _ready_on(today, calendar)
    opens = first_day(estimated.price, today=today)
    window = candidate.option.window
    if window is not None:
        begin, since = window.start.astimezone(calendar.zone).date(), calendar.hours(window.start)
        on = max(begin, today)
        return Ready(on, max(since, calendar.begin_of(on)), note=f"its window opens on {begin}")
    wait = stated_wait(candidate.option)
    if wait is not None:
        return _ready_after_wait(wait, max(calendar.first, candidate.option.ready_on or opens), calendar, today=today)
    if candidate.option.ready_on is not None:
        return _ready_on(max(candidate.option.ready_on, opens), calendar)
    if opens > today:
        return _ready_on(opens, calendar, f"ready on {opens}, when its window opens")
    site = candidate.site
    if site is None or candidate.hold not in (Hold.BUY, Hold.RENT):
        return _ready_on(today, calendar)
    days = lead_days(lead_time(site, candidate.node, candidate.accelerator, catalog))
    hours = calendar.ordered(today) + HOURS_PER_DAY * days.value
    day = calendar.moment(hours).date()
    return Ready(day, max(0.0, hours), days, f"ready on {day}: ordered on {today}, {days.source}")


def _ready_on(day: date, calendar: Calendar, note: str | None = None) -> Ready:
    return Ready(day, calendar.begin_of(day), note=note)


def stated_wait(option: PlanOption) -> Quantity | None:
    """Return the wait for an option's machines that the plan states, in hours; None if it states none."""
    if option.wait_hours is not None:
        return option.wait_hours.quantity(Unit.HOURS, where="the plan: wait_hours")
    asked = option.queue or option.tries
    return wait_of(asked) if asked is not None else None


def _ready_after_wait(hours: Quantity, since: date, calendar: Calendar, *, today: date) -> Ready:
    """Return the day after a wait that the plan states; like the lead of an order, its lead counts from today."""
    begin = calendar.begin_of(since)
    days = Interval(
        *((begin + value - calendar.ordered(today)) / HOURS_PER_DAY for value in interval(hours, Unit.HOURS))
    )
    source = f"{hours.value:g} h of waiting; {hours.source}"
    on = calendar.moment(begin + hours.value).date()
    return Ready(on, begin + hours.value, derived(days, Unit.DAYS, hours, source=source), f"ready on {on}: {source}")
