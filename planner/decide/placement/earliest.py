"""When an option's machines can be had: as a distribution, with how it is known."""

from __future__ import annotations

from datetime import date

from planner.decide.campaign.calendar import Calendar
from planner.decide.campaign.ready import ready, stated_wait
from planner.decide.options.option import EstimatedOption
from planner.model.catalog import Catalog
from planner.model.owning.hold import Hold
from planner.model.plan.plan import CampaignLimits
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval
from planner.quantity.time_units import HOURS_PER_DAY


def earliest_of(
    estimated: EstimatedOption, limits: CampaignLimits, catalog: Catalog, calendar: Calendar, *, today: date
) -> Quantity | None:
    """Return the hours from the campaign's start until the option's first run can begin; None: nobody knows.

    A wait of the plan, or the lead time of what is ordered today, with its range; else the option's first day. A rented
    machine that its provider had when its price was read can be had at once; of others nobody knows.
    """
    readiness = ready(estimated, catalog, begins=limits.start or today, today=today)
    candidate, option = estimated.candidate, estimated.option
    day = calendar.begin_of(readiness.on)
    wait = stated_wait(candidate.option) if candidate is not None else None
    if candidate is not None and wait is not None:
        since = calendar.begin_of(candidate.option.ready_on) if candidate.option.ready_on is not None else 0.0
        hours = Interval(*(since + value for value in interval(wait, Unit.HOURS)))
        return derived(hours, Unit.HOURS, wait, source=wait.source)
    if readiness.lead is not None:
        days, ahead = interval(readiness.lead, Unit.DAYS), (calendar.first - today).days
        hours = Interval(*(max(0.0, (value - ahead) * HOURS_PER_DAY) for value in days))
        return derived(hours, Unit.HOURS, readiness.lead, source=readiness.lead.source)
    if candidate is not None and candidate.option.window is not None:
        opens = max(0.0, calendar.hours(candidate.option.window.start))
        return to_quantity(Interval.exact(opens), Unit.HOURS, Basis.QUOTED, "the plan: window")
    if day > 0:
        source = f"ready on {readiness.on}"
        return to_quantity(Interval.exact(day), Unit.HOURS, Basis.QUOTED, readiness.note or source)
    if option.hold is Hold.HAVE:
        return to_quantity(Interval.exact(0.0), Unit.HOURS, Basis.ASSUMED, "it stands there")
    if option.availability == "yes" and estimated.price is not None:
        source, as_of = estimated.price.source, estimated.price.as_of
        return to_quantity(Interval.exact(0.0), Unit.HOURS, Basis.QUOTED, f"{source}: available", as_of)
    return None
