"""Cost bars and finish dates of an answer, in percent of the width that they are drawn on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import RankedOption
from planner.model.quantity import Quantity
from planner.quantity.chance import decided
from planner.quantity.interval import Interval
from planner.quantity.time_units import HOURS_PER_DAY

SHOWN = 8
ROOM = 1.08
"""The axis ends so far beyond what it must hold."""
WITHIN_REACH = 4.0
"""A limit beyond so many times all that is drawn is said in words: on the axis it would squeeze the bars together."""
FAR = 6.0
"""An option beyond so many times the middle one is cut at the axis' end."""


@dataclass(frozen=True)
class BarSpan:
    """A value with its 90 % range, as shares of the axis; `cut`: it lies beyond the end."""

    at: float
    low: float
    high: float
    cut: bool


@dataclass(frozen=True)
class Bar:
    """One option: what it costs, and when it is done."""

    option: RankedOption
    cost: BarSpan | None
    time: BarSpan | None


@dataclass(frozen=True)
class Bars:
    """What is drawn; a limit is None where there is none, or where it lies too far off."""

    rows: Sequence[Bar]
    budget: float | None
    deadline: float | None
    usd_end: float
    hours_end: float
    budget_off: bool
    deadline_off: bool


def bars(document: ComparisonDocument) -> Bars:
    """Return the first options, and the recommended one, with both axes from zero.

    Cost is what remains to pay, time runs from the campaign's first day to the last one of the work, with what must be
    waited for.
    """
    shown = [option for option in document.options if option.payable_usd and option.campaign_hours][:SHOWN]
    usd = [option.payable_usd for option in shown if option.payable_usd]
    hours = [_until_done(option) for option in shown]
    usd_end, usd_off = _end(usd, document.budget_usd)
    hours_end, hours_off = _end(hours, document.deadline_hours)
    rows = [
        Bar(option, _span(option.payable_usd, usd_end), _span(took, hours_end))
        for option, took in zip(shown, hours, strict=True)
    ]
    return Bars(
        rows=rows,
        budget=_limit(document.budget_usd, usd_end, off=usd_off),
        deadline=_limit(document.deadline_hours, hours_end, off=hours_off),
        usd_end=usd_end,
        hours_end=hours_end,
        budget_off=usd_off,
        deadline_off=hours_off,
    )


def _until_done(option: RankedOption) -> Interval:
    assert option.campaign_hours is not None, "it has a bar"
    worked = decided(option.campaign_hours, doubtful=bool(option.doubts))
    return Interval(*(option.wait_hours + hours for hours in worked))


def day_after(start: date, hours: float) -> date:
    """Return the day on which so many hours from the campaign's start are over."""
    return start + timedelta(days=min(hours / HOURS_PER_DAY, (date.max - start).days))


def _end(quantities: Sequence[Quantity | Interval], limit: float | None) -> tuple[float, bool]:
    """Return where an axis ends, and whether the limit lies off it."""
    if not quantities:
        return 1.0, limit is not None
    values = sorted(quantity.value for quantity in quantities)
    near = FAR * max(values[len(values) // 2], values[0])
    within = [quantity for quantity in quantities if quantity.value <= near] or list(quantities)
    end = max(min(quantity.high, near) for quantity in within)
    off = limit is not None and limit > WITHIN_REACH * end
    if limit is not None and not off:
        end = max(end, limit)
    return (ROOM * end or 1.0), off


def _span(quantity: Quantity | Interval | None, end: float) -> BarSpan | None:
    if quantity is None:
        return None
    at, low, high = (min(1.0, max(0.0, value / end)) for value in (quantity.value, quantity.low, quantity.high))
    return BarSpan(at, low, high, cut=quantity.value > end)


def _limit(limit: float | None, end: float, *, off: bool) -> float | None:
    return None if limit is None or off else limit / end
