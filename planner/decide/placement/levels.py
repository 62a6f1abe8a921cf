"""Levels of caution: the quantiles of a run's hours and an option's cost that the solver counts with."""

from __future__ import annotations

import math
from typing import NamedTuple

from planner.decide.placement.chosen import Chosen

TIGHTENING = 0.7
"""Factor on the chance of breaking a limit, from one tried level to the next."""
LIKELY_CHANCE = 0.5
"""Chance of staying below the likely hours or costs."""
MOST_CONFIDENCE = 0.995


class Level(NamedTuple):
    """Quantiles of the hours and costs that the solver counts with. A higher level is more cautious."""

    hours: float | None = None
    """Chance that a run takes no more than the counted hours; None: the solver counts the likely hours."""
    usd: float | None = None
    """Chance that an option costs no more than the counted cost; None: the solver counts the likely costs."""


def tighter(level: Level, plan: Chosen, confidence: float) -> Level:
    """Return the next level: tighter for each limit that the plan does not keep with the confidence.

    If each limit holds alone but not both together, the limit with the lower chance is tightened.
    """
    in_time = min(chance for chance in (plan.chance_deadline, plan.chance_windows, 1.0) if chance is not None)
    in_budget = 1.0 if plan.chance_budget is None else plan.chance_budget
    both_hold, (hours, usd) = in_time >= confidence and in_budget >= confidence, level
    if in_time < confidence or (both_hold and in_time <= in_budget):
        hours = confidence if hours is None else _surer(hours)
    if in_budget < confidence or (both_hold and in_budget <= in_time):
        usd = (1 + confidence) / 3 if usd is None else _surer(usd)
    return Level(hours, usd)


def halfway(low: Level, high: Level) -> Level:
    """Return the level between two levels."""
    return Level(_between(low.hours, high.hours), _between(low.usd, high.usd))


def _surer(chance: float) -> float:
    return min(MOST_CONFIDENCE, 1 - (1 - chance) * TIGHTENING)


def _between(low: float | None, high: float | None) -> float | None:
    """Return the chance between two: its complement is the geometric mean of their complements; None if `high` is."""
    if high is None:
        return low
    return 1 - math.sqrt((1 - (LIKELY_CHANCE if low is None else low)) * (1 - high))


def is_looser(level: Level, other: Level) -> bool:
    """Return whether neither the hours nor the costs of a level are surer than another level's."""
    return all((chance or 0.0) <= (other_chance or 0.0) for chance, other_chance in zip(level, other, strict=True))
