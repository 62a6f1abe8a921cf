"""Hours from work, and the day on which they end."""

from __future__ import annotations

import math
from datetime import date, timedelta

from planner.quantity.formula import formula
from planner.quantity.interval import Interval
from planner.quantity.time_units import HOURS_PER_DAY, SECONDS_PER_HOUR


@formula("h")
def train_hours(*, samples: float, samples_per_s: Interval, goodput_fraction: float) -> Interval:
    """Wall-clock hours to train on `samples`.

    hours = samples / (samples_per_s x goodput_fraction) / 3600

    `samples_per_s` is of the whole cluster in steady state (warm-up dropped). `goodput_fraction` in (0, 1] takes off
    restarts, checkpoints and evaluation. Leaves out set-up and a last partial batch (under one step an epoch).
    Source: definition.
    """
    return samples_per_s.inverse().scaled(samples / goodput_fraction / SECONDS_PER_HOUR)


NOON_HOURS = 12.0
"""Hours of today already gone when work starts. Defaults to noon if the plan states no start."""


def passed_hours(*, stated: date | None, start: date, today: date) -> float:
    """Return the hours of the first day already gone: 12 for today, none for a stated or a later day."""
    return NOON_HOURS if stated is None and start == today else 0.0


def last_day(*, start: date, hours: float, passed: float = 0.0) -> date:
    """Return the day on which the work ends, if it starts `passed` hours into the first day; at most the calendar's
    last day.

    day = start + ceil((hours + passed) / 24) - 1
    """
    days = max(0, math.ceil((hours + passed) / HOURS_PER_DAY) - 1)
    return start + timedelta(days=min(days, (date.max - start).days))


def hours_until(day: date, *, start: date, passed: float = 0.0) -> float:
    """Return the hours from `passed` hours into the first day to the end of a day; 0 if that is earlier.

    hours = max(0, 24 x (days between + 1) - passed)
    """
    return max(0.0, ((day - start).days + 1) * HOURS_PER_DAY - passed)
