"""Lengths of warm-up and window. Pure: step times in, number of further steps out.

Steps are run in small blocks of about half a second, so that the check whether to continue costs nothing next to them.
"""

from __future__ import annotations

import math
from typing import Callable, Sequence

from ..contract.spec import MeasurementWindow

Decision = Callable[[], int]

STOP = 0
STEADY_BLOCK_STEPS = 10
STEADY_TOLERANCE = 0.01
STEADY_TOLERANCE_SHORT = 0.05
BLOCK_S = 0.5


def is_steady(step_seconds: Sequence[float], window: MeasurementWindow) -> bool:
    """Return whether the last two whole blocks of ten steps took the same time:
    t2 / t1 - 1
    <= 1 %.
    """
    end = len(step_seconds) // STEADY_BLOCK_STEPS * STEADY_BLOCK_STEPS
    if end < 2 * STEADY_BLOCK_STEPS:
        return False
    earlier = sum(step_seconds[end - 2 * STEADY_BLOCK_STEPS : end - STEADY_BLOCK_STEPS])
    later = sum(step_seconds[end - STEADY_BLOCK_STEPS : end])
    tolerance = STEADY_TOLERANCE_SHORT if window.is_short else STEADY_TOLERANCE
    return abs(later / earlier - 1) <= tolerance


def warmup_steps_ahead(
    window: MeasurementWindow, step_seconds: Sequence[float], *, steps_started: int, elapsed_s: float
) -> int:
    """Return how many more warm-up steps to run before checking again; STOP when steady or out of time."""
    enough = steps_started >= window.min_warmup_steps and elapsed_s >= window.min_warmup_s
    if (enough and is_steady(step_seconds, window)) or elapsed_s >= window.max_warmup_s:
        return STOP
    return _block_steps(step_seconds)


def measured_steps_ahead(window: MeasurementWindow, step_seconds: Sequence[float], *, steps_started: int) -> int:
    """Return how many more steps to measure before checking again; STOP when both minima, or the cap, are reached.

    `step_seconds` may lag behind `steps_started` on an asynchronous device. Steps under way are counted at the mean so
    far.
    """
    if not step_seconds:
        return 1
    mean_s = sum(step_seconds) / len(step_seconds)
    elapsed_s = sum(step_seconds) + (steps_started - len(step_seconds)) * mean_s
    wanted = max(window.min_steps - steps_started, math.ceil((window.min_s - elapsed_s) / mean_s))
    if wanted <= 0 or elapsed_s >= window.max_s:
        return STOP
    return min(wanted, _block_steps(step_seconds))


def _block_steps(step_seconds: Sequence[float]) -> int:
    recent = step_seconds[-STEADY_BLOCK_STEPS:]
    if len(recent) < STEADY_BLOCK_STEPS:
        return 1
    return max(1, int(BLOCK_S * len(recent) / sum(recent)))
