"""Find the first day on which an option's machine can be used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from planner.cost.cloud.allocation import first_day
from planner.cost.ownership.lead_time import lead_days, lead_time
from planner.decide.options.option import EstimatedOption
from planner.duration.waits import wait_of
from planner.model.catalog import Catalog
from planner.model.owning.hold import Hold
from planner.model.plan.plan_option import PlanOption
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.interval import Interval
from planner.quantity.time_units import HOURS_PER_DAY


@dataclass(frozen=True)
class Ready:
    """First day, and the lead time of a machine that is ordered today."""

    on: date
    lead: Quantity | None = None
    note: str | None = None
    hours: float = 0.0
    """Hours of that day until it is ready."""


def ready(estimated: EstimatedOption, catalog: Catalog, *, begins: date, today: date) -> Ready:
    """Return the option's `ready_on`; else today, after the lead time of a machine that is bought or leased.

    A grant can be used from the day on which its window opens. Waiting for a machine starts when the campaign `begins`.
    """
    candidate = estimated.candidate
    if candidate is None:
        return Ready(today)
    opens = first_day(estimated.price, today=today)
    if candidate.option.window is not None:
        begins = candidate.option.window.start.date()
        return Ready(max(begins, today), note=f"its window opens on {begins}")
    wait = stated_wait(candidate.option)
    if wait is not None:
        return _waited(wait, max(begins, candidate.option.ready_on or opens), today=today)
    if candidate.option.ready_on is not None:
        return Ready(max(candidate.option.ready_on, opens))
    if opens > today:
        return Ready(opens, note=f"ready on {opens}, when its window opens")
    site = candidate.site
    if site is None or candidate.hold not in (Hold.BUY, Hold.RENT):
        return Ready(today)
    months = lead_time(site, candidate.node, candidate.accelerator, catalog)
    days = lead_days(months)
    day = today + timedelta(days=min(int(days.value), (date.max - today).days))
    return Ready(day, days, f"ready on {day}: ordered on {today}, {days.source}")


def stated_wait(option: PlanOption) -> Quantity | None:
    """Return the wait for an option's machines that the plan states, in hours; None if it states none."""
    if option.wait_hours is not None:
        return option.wait_hours.quantity(Unit.HOURS, where="the plan: wait_hours")
    asked = option.queue or option.tries
    return wait_of(asked) if asked is not None else None


def _waited(hours: Quantity, since: date, *, today: date) -> Ready:
    """Return the first day after a wait that the plan states."""
    ahead = HOURS_PER_DAY * (max(since, today) - today).days
    until = interval(hours, Unit.HOURS)
    days = Interval(*((value + ahead) / HOURS_PER_DAY for value in until))
    source = f"{hours.value:g} h of waiting; {hours.source}"
    whole = min(int(days.value), (date.max - today).days)
    on = today + timedelta(days=whole)
    left = HOURS_PER_DAY * (days.value - whole)
    return Ready(on, derived(days, Unit.DAYS, hours, source=source), f"ready on {on}: {source}", left)
