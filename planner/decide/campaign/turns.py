"""How long the turns of others (`taken`) hold up a campaign on one option alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

from planner.decide.campaign.calendar import Calendar
from planner.decide.campaign.ready import Ready
from planner.decide.campaign.windows import Span, TakenNodes, free_lanes
from planner.decide.options.option import EstimatedOption
from planner.model.plan.option_times import Turn
from planner.model.plan.plan import CampaignLimits
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.interval import Interval, sum_of

STEPS = 60
"""Of the bisection, which ends far below a second."""


def taken_nodes(turns: Sequence[Turn], calendar: Calendar) -> list[TakenNodes]:
    """Return the turns in hours from the campaign's start."""
    return [TakenNodes(calendar.hours(turn.start), calendar.hours(turn.end), turn.nodes) for turn in turns]


def held_up_hours(
    turns: Sequence[TakenNodes], *, nodes: int, width: int, at_once: int, runs: int, hours: float, opens: float
) -> float:
    """Return by how many hours turns make the last of `runs` equal runs end later than it would without them.

    runs done by T = sum over free windows of sets x floor((min(T, closes) - opens) / hours of a run)

    A run is not split, so it does not begin in a gap that is too short for it. `opens`: when the machine is ready.
    """
    free = free_lanes(nodes, width, turns, most=at_once, opens=opens, closes=math.inf)
    alone = opens + math.ceil(runs / at_once) * hours
    early, late = alone, max([alone, *(turn.closes for turn in turns)]) + runs * hours
    if _done(free, alone, hours) >= runs:
        return 0.0
    for _ in range(STEPS):
        middle = (early + late) / 2
        early, late = (early, middle) if _done(free, middle, hours) >= runs else (middle, late)
    return late - alone


def with_turns(
    estimated: EstimatedOption, hours: Quantity | None, at_once: int, limits: CampaignLimits, readiness: Ready,
    *, today: date,
) -> Quantity | None:  # fmt: skip
    """Return the hours with what the turns of others (`taken`) add to them; runs are counted as equally long."""
    machine = estimated.candidate
    if hours is None or machine is None or not machine.taken or hours.value <= 0:
        return hours
    calendar = Calendar.of(limits, today=today)
    held = held_up_hours(
        taken_nodes(machine.taken, calendar),
        nodes=at_once * machine.nodes if machine.site is None else machine.site.nodes,
        width=machine.nodes, at_once=at_once, runs=limits.runs, hours=hours.value / math.ceil(limits.runs / at_once),
        opens=calendar.begin_of(readiness.on) + readiness.hours,
    )  # fmt: skip
    if held <= 0:
        return hours
    source = f"{held:.4g} h more for the turns of others; {hours.source}"
    return derived(sum_of([interval(hours, Unit.HOURS), Interval(held, held, held)]), Unit.HOURS, hours, source=source)


def _done(free: dict[Span, int], end: float, hours: float) -> int:
    return sum(sets * max(0, math.floor((min(end, span.closes) - span.opens) / hours + 1e-9))
               for span, sets in free.items())  # fmt: skip
