"""Computes the cost bars and finish dates of an answer, as shares of the axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import RankedOption
from planner.model.quantity import Quantity
from planner.quantity.interval import Interval, decided
from planner.quantity.time_units import HOURS_PER_DAY

SHOWN = 8
ROOM = 1.08
"""End of an axis, relative to the largest drawn value."""
WITHIN_REACH = 4.0
"""Ratio of a limit to the drawn values beyond which it is only written, because it would squeeze the bars."""
CUT_OFF_RATIO = 6.0
"""Ratio to the median option beyond which an option is cut at the axis' end."""


@dataclass(frozen=True)
class BarSpan:
    """A value with its 90 % range, as shares of the axis. `cut` means that it lies beyond the end."""

    at: float
    low: float
    high: float
    cut: bool


@dataclass(frozen=True)
class Bar:
    """Cost and finish of one option."""

    option: RankedOption
    cost: BarSpan | None
    time: BarSpan | None


@dataclass(frozen=True)
class Bars:
    """Bars with their axes. A limit is None if there is none or it is too far away."""

    rows: Sequence[Bar]
    budget: float | None
    deadline: float | None
    usd_end: float
    hours_end: float
    budget_off: bool
    deadline_off: bool


def bars(document: ComparisonDocument) -> Bars:
    """Return the bars of the first options, with both axes from zero.

    Cost is the amount to pay. Time runs from the campaign's first day to the end of the work, including waiting.
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
    """Return the day that is this number of hours after the start."""
    return start + timedelta(days=min(hours / HOURS_PER_DAY, (date.max - start).days))


def _end(quantities: Sequence[Quantity | Interval], limit: float | None) -> tuple[float, bool]:
    """Return the end of an axis, and True if the limit lies beyond it."""
    if not quantities:
        return 1.0, limit is not None
    values = sorted(quantity.value for quantity in quantities)
    farthest = CUT_OFF_RATIO * max(values[len(values) // 2], values[0])
    within = [quantity for quantity in quantities if quantity.value <= farthest] or list(quantities)
    end = max(min(quantity.high, farthest) for quantity in within)
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
