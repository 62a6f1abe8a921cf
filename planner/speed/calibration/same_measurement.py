"""Which rows of tables are one measurement, however their sources spell it."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Observation

RATE = math.log(1.01)
"""Two rates within 1 % are one: sources round to two or three digits."""
Identity = tuple[object, ...]


def identity_of(one: Observation) -> Identity:
    """Return what stays when a source, an id, a model or a framework is spelt in another way.

    Accelerator, count, layers, width, length of samples, and whether adapters alone are trained; of an image network
    its FLOPs an image.
    """
    config = one.config
    count = config["dp"] * config["tp"] * config["pp"] * config["cp"]
    if "flops" in config:
        network: Identity = ("images", round(config["flops"]))
    else:
        network = (config["layers"], config["hidden"], config["seq_len"], config["adapters"] > 0)
    return one.labels.accelerator, count, *network


class Measurements:
    """Measurements that are looked up by identity and rate."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        rates: dict[Identity, list[tuple[float, int]]] = {}
        self.replicates: dict[Identity, list[int]] = {}
        for place, one in enumerate(observations):
            rates.setdefault(identity_of(one), []).append((math.log(one.tokens_per_s_per_gpu), place))
            self.replicates.setdefault(_replicate(one), []).append(place)
        self.rates = {key: sorted(pairs) for key, pairs in rates.items()}

    def like(self, one: Observation) -> set[int]:
        """Return the places of the same measurement, and of replicates: one source's repeats of one configuration."""
        pairs, rate = self.rates.get(identity_of(one), []), math.log(one.tokens_per_s_per_gpu)
        low = bisect_left(pairs, (rate - RATE, -1))
        high = bisect_right(pairs, (rate + RATE, math.inf))
        return {place for _, place in pairs[low:high]} | set(self.replicates.get(_replicate(one), ()))


def without_twins(train: Array, test: Array, observations: Sequence[Observation]) -> Array:
    """Return the places of training rows that are no measurement of the test rows under another name."""
    import numpy as np

    known = Measurements([observations[int(place)] for place in train])
    twins = {twin for place in test for twin in known.like(observations[int(place)])}
    return np.asarray(np.delete(train, sorted(twins)), dtype=train.dtype)


def without(evidence: Sequence[Observation], asked: Sequence[Observation]) -> list[Observation]:
    """Return the evidence that is neither among the rows asked nor a duplicate or replicate of one."""
    known = Measurements(asked)
    rows = {(one.labels.source, one.id) for one in asked}
    return [one for one in evidence if (one.labels.source, one.id) not in rows and not known.like(one)]


def _replicate(one: Observation) -> Identity:
    return one.labels.source, one.labels.workload, one.labels.accelerator, tuple(sorted(one.config.items()))
