"""Estimate when an option's machines become available, with a range and a source."""

from __future__ import annotations

from datetime import date

from planner.decide.campaign.ready import ready, stated_wait
from planner.decide.options.option import EstimatedOption
from planner.duration.calendar import Calendar
from planner.model.catalog import Catalog
from planner.model.owning.acquisition import Hold
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval
from planner.quantity.time_units import HOURS_PER_DAY


def earliest_start(estimated: EstimatedOption, catalog: Catalog, calendar: Calendar, *, today: date) -> Quantity | None:
    """Return the hours from the campaign's start until the option's first run can begin; None if they are unknown.

    A wait that the plan states, or the lead time of a purchase, counts with its range; else the option's first day
    counts. A rented machine is there at once if its provider offered it when its price was read, else unknown.
    """
    candidate, option = estimated.candidate, estimated.option
    readiness = ready(estimated, catalog, calendar, today=today)
    wait = stated_wait(candidate.option) if candidate is not None else None
    if candidate is not None and wait is not None:
        since = readiness.hours - wait.value
        hours = Interval(*(since + value for value in interval(wait, Unit.HOURS)))
        return derived(hours, Unit.HOURS, wait, source=wait.source)
    if readiness.lead is not None:
        ordered = calendar.ordered(today)
        hours = Interval(*(max(0.0, ordered + value * HOURS_PER_DAY) for value in interval(readiness.lead, Unit.DAYS)))
        return derived(hours, Unit.HOURS, readiness.lead, source=readiness.lead.source)
    if candidate is not None and candidate.option.window is not None:
        return _at(readiness.hours, Basis.QUOTED, "the plan: window")
    if readiness.hours > 0:
        return _at(readiness.hours, Basis.QUOTED, readiness.note or f"ready on {readiness.on}")
    if option.hold is Hold.HAVE:
        return _at(0.0, Basis.ASSUMED, "it stands there")
    if option.availability == "yes" and estimated.price is not None:
        return _at(0.0, Basis.QUOTED, f"{estimated.price.source}: available", estimated.price.as_of)
    return None


def _at(hours: float, basis: Basis, source: str, as_of: date | None = None) -> Quantity:
    return to_quantity(Interval.exact(hours), Unit.HOURS, basis, source, as_of)
