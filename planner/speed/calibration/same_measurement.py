"""Recognition of rows that state the same measurement with different spellings."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Observation

RATE = math.log(1.01)
"""Largest difference of equal rates: 1 %, because sources round to two or three digits."""
Identity = tuple[object, ...]


def identity_of(row: Observation) -> Identity:
    """Return the properties of a measurement that do not depend on the spelling of source, id, model and framework.

    These are accelerator, count, layers, width, length of samples, and whether only adapters are trained. For an image
    network, the FLOPs of an image replace those of the network.
    """
    config = row.config
    count = config["dp"] * config["tp"] * config["pp"] * config["cp"]
    if "flops" in config:
        network: Identity = ("images", round(config["flops"]))
    else:
        network = (config["layers"], config["hidden"], config["seq_len"], config["adapters"] > 0)
    return row.labels.accelerator, count, *network


class Measurements:
    """Index of measurements by identity and rate."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        rates: dict[Identity, list[tuple[float, int]]] = {}
        self.replicates: dict[Identity, list[int]] = {}
        for place, row in enumerate(observations):
            rates.setdefault(identity_of(row), []).append((math.log(row.tokens_per_s_per_gpu), place))
            self.replicates.setdefault(_replicate(row), []).append(place)
        self.rates = {key: sorted(pairs) for key, pairs in rates.items()}

    def like(self, row: Observation) -> set[int]:
        """Return the places of the same measurement, and of its source's repeats of the configuration."""
        pairs, rate = self.rates.get(identity_of(row), []), math.log(row.tokens_per_s_per_gpu)
        low = bisect_left(pairs, (rate - RATE, -1))
        high = bisect_right(pairs, (rate + RATE, math.inf))
        return {place for _, place in pairs[low:high]} | set(self.replicates.get(_replicate(row), ()))


def without_twins(train: Array, test: Array, observations: Sequence[Observation]) -> Array:
    """Return the places of training rows that state no measurement of the test rows."""
    import numpy as np

    known = Measurements([observations[int(place)] for place in train])
    twins = {twin for place in test for twin in known.like(observations[int(place)])}
    return np.asarray(np.delete(train, sorted(twins)), dtype=train.dtype)


def without(evidence: Sequence[Observation], observations: Sequence[Observation]) -> list[Observation]:
    """Return the evidence without `observations`, their duplicates and their replicates."""
    known = Measurements(observations)
    ids = {(row.labels.source, row.id) for row in observations}
    return [row for row in evidence if (row.labels.source, row.id) not in ids and not known.like(row)]


def _replicate(row: Observation) -> Identity:
    return row.labels.source, row.labels.workload, row.labels.accelerator, tuple(sorted(row.config.items()))
