"""Draw the hours of interrupted runs exactly, many at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from planner.decide.outcomes.draws import Array, Counts
from planner.duration.goodput import MOST_INTERRUPTIONS, SMALLEST_RATE, Interruptions

DRAWN_ONE_BY_ONE = 32
"""Interruptions of one run up to which each lost stretch is drawn. The sum of more is drawn as a normal number."""


class RunTimes(NamedTuple):
    """Hours from the first step to the last, and number of interruptions, of each run."""

    hours: Array
    interruptions: Counts


def run_times(rng: np.random.Generator, steps_hours: Array, lost: Interruptions) -> RunTimes:
    """Draw the hours of interrupted runs whose steps alone take `steps_hours`.

    Their mean is steps_hours x losses(lost).total (`planner/duration/goodput.py`).
    """
    busy = steps_hours * (1 + lost.input_stall + lost.evaluation)
    return interrupted(
        rng,
        busy / lost.interval_hours,
        segment_hours=lost.interval_hours + lost.checkpoint_hours,
        recovery_hours=lost.restart_hours + lost.unsaved_hours,
        per_hour=lost.per_hour,
    )


def interrupted(
    rng: np.random.Generator,
    segments: Array,
    *,
    segment_hours: float,
    recovery_hours: float,
    per_hour: float,
    down_hours: float = 0.0,
) -> RunTimes:
    """Draw the hours of runs of `segments`, each from one checkpoint to the end of the next.

    mean = segments x e^(l r) x (1 / l + d) x (e^(l s) - 1)

    Interruptions come at random (exponential), l an hour. An interrupted segment of s hours starts again after d idle
    hours and a recovery of r hours, which may be interrupted like the segment. An attempt fails with 1 - e^(-l s). The
    number of failures is geometric for one segment and negative binomial for all. The length of each failure is
    exponential below s. The number of segments may be a fraction.

    Source: Bougeret, Casanova, Rabie, Robert, Vivien: Checkpointing strategies for parallel jobs, SC 2011, section 3.
    """
    alone = segments * segment_hours
    if per_hour < SMALLEST_RATE:
        return RunTimes(alone, np.zeros(segments.shape, dtype=np.int64))
    failed = _failures(rng, segments, per_hour * segment_hours)
    again = _failures(rng, failed.astype(np.float64), per_hour * recovery_hours)
    total = failed + again
    lost = _cut_short(rng, failed, segment_hours, per_hour) + _cut_short(rng, again, recovery_hours, per_hour)
    return RunTimes(alone + failed * recovery_hours + total * down_hours + lost, total)


def _failures(rng: np.random.Generator, successes: Array, expected: float) -> Counts:
    """Draw the number of failures before the given number of successes; an attempt succeeds with e^(-expected)."""
    chance = float(np.exp(-min(expected, MOST_INTERRUPTIONS)))
    drawn = rng.negative_binomial(np.maximum(successes, 1e-9), chance)
    return np.where(successes > 0, drawn, 0).astype(np.int64)


def _cut_short(rng: np.random.Generator, counts: Counts, longest: float, per_hour: float) -> Array:
    """Draw the sums of `counts` exponential times, each known to be shorter than `longest`."""
    if longest <= 0 or not counts.any():
        return np.zeros(counts.shape)
    flat = counts.ravel()
    many = flat > DRAWN_ONE_BY_ONE
    few = np.where(many, 0, flat)
    reached = -np.expm1(-per_hour * longest)
    drawn = -np.log1p(-reached * rng.random(int(few.sum()))) / per_hour
    ends = np.concatenate([[0.0], np.cumsum(drawn)])[np.concatenate([[0], np.cumsum(few)])]
    sums = np.diff(ends)
    if many.any():
        mean, variance = _moments(longest, per_hour)
        normal = rng.standard_normal(int(many.sum()))
        sums[many] = np.clip(flat[many] * mean + np.sqrt(flat[many] * variance) * normal, 0.0, flat[many] * longest)
    return np.asarray(sums.reshape(counts.shape))


def _moments(longest: float, per_hour: float) -> tuple[float, float]:
    """Return the mean and variance of an exponential time that is shorter than `longest`.

    mean = 1 / l - s / (e^(l s) - 1);  variance = 1 / l^2 - s^2 e^(l s) / (e^(l s) - 1)^2;  uniform where l s is small
    """
    x = per_hour * longest
    if x < 1e-3:
        return longest / 2, longest**2 / 12
    grown = float(np.expm1(x))
    return 1 / per_hour - longest / grown, max(0.0, 1 / per_hour**2 - longest**2 * (grown + 1) / grown**2)
