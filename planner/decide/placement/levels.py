"""Step from level to level: how surely single runs and costs stay below what the solver counts."""

from __future__ import annotations

import math
from typing import NamedTuple

from planner.decide.placement.chosen import Chosen

CLOSER = 0.7
"""Factor on the chance to break a limit from one tried level to the next."""
LIKELY = 0.5
MOST_CONFIDENCE = 0.995


class Level(NamedTuple):
    """Chances with which single runs stay below the hours, and options below the costs, that the solver counts."""

    hours: float | None = None
    """None: it counts the likely hours."""
    usd: float | None = None
    """None: it counts the likely costs."""


def tighter(level: Level, plan: Chosen, confidence: float) -> Level:
    """Return the next level: of the limits that the plan does not keep, else of the less sure one.

    If each limit holds and both together do not, the less sure one is tightened.
    """
    in_time = min(chance for chance in (plan.chance_deadline, plan.chance_windows, 1.0) if chance is not None)
    in_budget = 1.0 if plan.chance_budget is None else plan.chance_budget
    each_holds, (hours, usd) = in_time >= confidence and in_budget >= confidence, level
    if in_time < confidence or (each_holds and in_time <= in_budget):
        hours = confidence if hours is None else _surer(hours)
    if in_budget < confidence or (each_holds and in_budget <= in_time):
        usd = (1 + confidence) / 3 if usd is None else _surer(usd)
    return Level(hours, usd)


def halfway(low: Level, high: Level) -> Level:
    """Return the level between two levels."""
    return Level(_between(low.hours, high.hours), _between(low.usd, high.usd))


def _surer(chance: float) -> float:
    return min(MOST_CONFIDENCE, 1 - (1 - chance) * CLOSER)


def _between(low: float | None, high: float | None) -> float | None:
    """Return the chance whose complement is the geometric mean of those of two chances; None if both are None."""
    if high is None:
        return low
    return 1 - math.sqrt((1 - (LIKELY if low is None else low)) * (1 - high))


def is_looser(level: Level, than: Level) -> bool:
    """Return whether a level is nowhere surer than another one."""
    return all((mine or 0.0) <= (theirs or 0.0) for mine, theirs in zip(level, than, strict=True))
