"""Compute the time of a campaign on machines that other users take for stated periods (`taken` in the plan)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.decide.campaign.ready import Ready
from planner.decide.campaign.windows import TakenNodes, free_lanes
from planner.decide.options.option import EstimatedOption
from planner.duration.between_turns import WHOLE, hours_between
from planner.duration.calendar import Calendar
from planner.model.answer.campaign import BetweenTurns, FreeSets
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.option_times import Turn
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.interval import Interval


def taken_nodes(turns: Sequence[Turn], calendar: Calendar) -> list[TakenNodes]:
    """Return the periods that others take, in hours from the campaign's start, with their nodes."""
    return [TakenNodes(calendar.hours(turn.start), calendar.hours(turn.end), turn.nodes) for turn in turns]


def between_turns(
    estimated: EstimatedOption, hours: Quantity | None, at_once: int, limits: CampaignLimits, readiness: Ready,
    calendar: Calendar,
) -> BetweenTurns | None:  # fmt: skip
    """Return when the option's machines are free, with runs taken to be equally long; None if no one else takes them.

    `hours` is the length of the campaign if no one else took the machines.
    """
    machine = estimated.candidate
    if hours is None or machine is None or not machine.taken or hours.value <= 0:
        return None
    site_nodes = None if machine.site is None else machine.site.nodes
    limits_of_nodes = [count for count in (machine.quota, site_nodes) if count is not None]
    nodes = min(limits_of_nodes, default=at_once * machine.nodes)
    turns = taken_nodes(machine.taken, calendar)
    free = free_lanes(nodes, machine.nodes, turns, most=at_once, opens=readiness.hours, closes=math.inf)
    each = interval(hours, Unit.HOURS).scaled(1 / math.ceil(limits.runs / at_once))
    return BetweenTurns(
        runs=limits.runs,
        run_hours=derived(each, Unit.HOURS, hours, source=hours.source),
        opens=readiness.hours,
        free=tuple(
            FreeSets(opens=span.opens, closes=None if math.isinf(span.closes) else span.closes, sets=sets)
            for span, sets in free.items()
        ),
    )


def with_turns(hours: Quantity | None, between: BetweenTurns | None) -> Quantity | None:
    """Return the campaign's hours, longer where it waits for other users."""
    if hours is None or between is None:
        return hours
    ends, alone = range_between(between), interval(hours, Unit.HOURS)
    if max(end - other for end, other in zip(ends, alone, strict=True)) <= WHOLE * hours.value:
        return hours
    source = f"{max(0.0, ends.value - alone.value):.4g} h more for the turns of others; {hours.source}"
    return derived(ends, Unit.HOURS, hours, source=source)


def range_between(between: BetweenTurns) -> Interval:
    """Return the campaign's hours from the range of a run's hours. Each end of the range waits for others by itself."""
    import numpy as np

    return Interval(*map(float, hours_between(between, np.array(interval(between.run_hours, Unit.HOURS)))))
