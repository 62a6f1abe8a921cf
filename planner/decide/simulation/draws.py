"""Random draws from ranges: seeded, and of one name always the same whatever else is drawn beside it."""

from __future__ import annotations

import math
import zlib

import numpy as np
import numpy.typing as npt

from planner.quantity.chance import TAIL
from planner.quantity.interval import MOST, Interval

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return the generator of a seed and a name: options that are added or left out change no other option's draws."""
    return np.random.default_rng([seed, *(zlib.crc32(name.encode()) for name in names)])


def from_range(rng: np.random.Generator, interval: Interval, size: tuple[int, ...]) -> Array:
    """Draw numbers of which `interval` is the median and the 90 % range; an exact one is drawn without spread.

    number = value x exp(s x z);  z standard normal, s = ln(high / value) / 1.645 above 0, ln(value / low) / 1.645 below
    of median 0:  max(0, high x z / 1.645)

    Source: the two-piece log-normal of `planner/quantity/chance.py`.
    """
    if interval.low == interval.high or interval.high <= 0:
        return np.full(size, interval.value)
    normal = rng.standard_normal(size)
    if interval.value <= 0:
        return np.asarray(np.maximum(0.0, interval.high * normal / TAIL))
    up = math.log(interval.high / interval.value) / TAIL
    down = math.log(interval.value / max(interval.low, interval.value / MOST)) / TAIL
    return np.asarray(interval.value * np.exp(np.where(normal > 0, up, down) * normal))


def by_chance(rng: np.random.Generator, spread_90: float, size: tuple[int, ...]) -> Array:
    """Draw factors about 1, normal with `spread_90` as half of the 90 % range; never below a tenth.

    Of runs to a quality target: how many steps one needs differs by seed and data order.
    """
    if spread_90 <= 0:
        return np.ones(size)
    return np.asarray(np.maximum(0.1, 1 + spread_90 / TAIL * rng.standard_normal(size)))
