"""Draw the samples of simulated outcomes. The samples of a name are always the same, whatever else is drawn."""

from __future__ import annotations

import math
import zlib
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from planner.quantity.interval import MOST, NORMAL, TAIL, Interval

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]

SAMPLES = 2_048
"""Samples of every outcome. A chance is a share of them, with an error of about half a percent."""
SEED = 26
SMALLEST = 1e-290
"""Numbers below it count as 0, because their quotients leave the range of floats."""


def generator(*names: str) -> np.random.Generator:
    """Return the random generator of a name. Adding or removing other options does not change its draws."""
    return np.random.default_rng([SEED, *(zlib.crc32(name.encode()) for name in names)])


@lru_cache(maxsize=1_024)
def scores(*names: str) -> Array:
    """Return the standard normal score of a named cause of error in each sample.

    score = z((place + 1/2) / samples);  place: a random order of the samples, seeded by the name

    Each name has the same scores in another order, so the quantiles of one cause carry no sampling error.
    Source: stratified sampling; McKay, Beckman and Conover, Technometrics 21 (1979) 239.
    """
    drawn = _normal_scores()[generator(*names).permutation(SAMPLES)]
    drawn.setflags(write=False)
    return drawn


@lru_cache(maxsize=1_024)
def mixed(causes: tuple[tuple[str, float], ...]) -> Array:
    """Return the standard normal scores of an error with several independent causes, by name and standard deviation.

    order = that of sum over causes of sd x score;  the scores are those of a single cause in this order

    The correlation of two errors is the sum over common causes of sd x sd' / (whole x whole').
    """
    total = np.sum([sd * scores(name) for name, sd in causes], axis=0)
    drawn = np.empty(SAMPLES)
    drawn[np.argsort(total, kind="stable")] = _normal_scores()
    drawn.setflags(write=False)
    return drawn


def in_strata(drawn: Array, *names: str) -> Array:
    """Return one draw for each sample from a whole multiple of draws: the middle of each stratum, in random order.

    Draws from strata err less than the same number of independent draws.
    """
    each = len(drawn) // SAMPLES
    return np.asarray(np.sort(drawn)[each // 2 :: each][generator(*names, "order").permutation(SAMPLES)])


def stays_under(interval: Interval, chance: float) -> float:
    """Return the number that a range stays below with this chance."""
    return float(at_scores(interval, np.array([NORMAL.inv_cdf(chance)]))[0])


@lru_cache(maxsize=1)
def _normal_scores() -> Array:
    return np.array([NORMAL.inv_cdf((place + 0.5) / SAMPLES) for place in range(SAMPLES)])


def at_scores(interval: Interval, normal: Array) -> Array:
    """Return the numbers of a range at these standard normal scores. The range's value is the median.

    number = value x exp(s x z);  z: the score, s = ln(high / value) / 1.645 above 0, ln(value / low) / 1.645 below
    with median 0:  max(0, high x z / 1.645)

    Source: the two-piece log-normal distribution with the stated 90 % range.
    """
    if interval.low == interval.high or interval.high <= SMALLEST:
        return np.full(normal.shape, interval.value)
    if interval.value <= SMALLEST:
        return np.asarray(np.maximum(0.0, interval.high * normal / TAIL))
    up = math.log(interval.high / interval.value) / TAIL
    down = math.log(interval.value / max(interval.low, interval.value / MOST)) / TAIL
    return np.asarray(interval.value * np.exp(np.where(normal > 0, up, down) * normal))
