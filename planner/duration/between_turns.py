"""End of equal runs on machines that others use in turns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from planner.model.answer.campaign import BetweenTurns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Hours = npt.NDArray[np.float64]

STEPS = 60
"""Steps of the bisection, which ends far below a second."""
WHOLE = 1e-9
"""Tolerance as a share of a run: a run that ends this close to its window's end fits."""
SHORTEST = 1e-6
"""Hours of a run whose range begins at zero."""


def hours_between(between: BetweenTurns, run_hours: Hours) -> Hours:
    """Return the hours from when the machines are ready until the last run ends, for each length of a run.

    runs done by T = sum over free windows of sets x floor((min(T, closes) - opens) / hours of a run)

    A run is not split, so it does not begin in a gap that is too short. Found by bisection, because longer runs never
    end sooner.
    """
    import numpy as np

    run_hours = np.maximum(run_hours, SHORTEST)
    last = max((span.opens for span in between.free), default=0.0)
    early, late = np.zeros(run_hours.shape), last - between.opens + between.runs * run_hours
    for _ in range(STEPS):
        middle = (early + late) / 2
        done = runs_done(between, middle, run_hours) >= between.runs
        early, late = np.where(done, early, middle), np.where(done, middle, late)
    return late


def longest_run(between: BetweenTurns, hours: float) -> float:
    """Return the longest run length for which the last run ends within `hours` after the machines are ready."""
    import numpy as np

    least, most = 0.0, hours
    for _ in range(STEPS):
        middle = (least + most) / 2
        done = runs_done(between, np.array([hours]), np.array([max(middle, SHORTEST)]))[0] >= between.runs
        least, most = (middle, most) if done else (least, middle)
    return least


def runs_done(between: BetweenTurns, hours: Hours, run_hours: Hours) -> Hours:
    """Return how many runs of this length can end within `hours` after the machines are ready."""
    import numpy as np

    done = np.zeros(np.broadcast(hours, run_hours).shape)
    for span in between.free:
        end = np.minimum(between.opens + hours, math.inf if span.closes is None else span.closes)
        done += span.sets * np.maximum(0.0, np.floor((end - span.opens) / run_hours + WHOLE))
    return done
