"""What a user's own runs change: a Gaussian posterior of the model's logarithmic error, in closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from planner.estimate.expected_error import (
    ACCELERATOR,
    COMMON_VARIANCE,
    NEARBY,
    NOISE,
    PART_ERROR,
    REPEATED,
    SITE,
    WORKLOAD,
)

if TYPE_CHECKING:
    from planner.estimate.observation import Labels
    from planner.estimate.physics.configs import Array, Configs

NEARBY_SCALE = {
    "gpus": 4.5,
    "tokens": 3.0,
    "length": 2.4,
    "accumulation": 4.0,
    "tensor": 0.6,
    "stages": 1.2,
    "zero3": 1.0,
    "sharded": 2.0,
    "recompute": 1.2,
    "peak": 2.0,
    "size": 4.0,
    "adapters": 1.1,
    "quantized": 1.2,
    "fused": 0.6,
    "flash": 1.1,
    "ragged": 0.9,
}
"""Doublings (of flags: whole steps) after which nearby settings say little of each other."""
SAME = 0.2
"""Share of these distances within which settings count as the same."""

BELIEVED = 2.0
"""Expected errors up to which a run's own error is taken at its word."""


SHARED_UNKNOWN = 0.5
"""Share of what is unknown of an accelerator or framework that is the same for all runs there."""


class Posterior(NamedTuple):
    """The expected logarithmic error, and the share of the standard deviation that is left."""

    shift: Array
    left: Array
    pull: Array
    """How much of each anchor's error each prediction takes over: predictions x anchors."""


def features(configs: Configs) -> Array:
    """Return where a configuration lies, in units of the distance that nearby settings may have."""
    import numpy as np

    columns = {
        "gpus": np.log2(configs.gpus),
        "tokens": np.log2(configs.micro_batch * configs.seq_len),
        "length": np.log2(configs.seq_len),
        "accumulation": np.log2(configs.micro_batches),
        "tensor": np.log2(configs.tp),
        "stages": np.log2(configs.pp),
        "zero3": configs.zero >= 3,
        "sharded": configs.zero >= 1,
        "recompute": configs.recompute,
        "peak": np.log2(configs.peak),
        "size": np.log2(configs.layers * configs.hidden**2),
        "adapters": configs.adapters,
        "quantized": configs.quantized,
        "fused": configs.fused,
        "flash": configs.flash,
        "ragged": configs.ragged,
    }
    return np.stack([values / NEARBY_SCALE[name] for name, values in columns.items()], axis=1)


class Place(NamedTuple):
    """What the update needs of configurations: labels, shares of the parts of a step, place among settings."""

    labels: Sequence[Labels]
    shares: Mapping[str, Array]
    features: Array
    expected: Array


def covariance(one: Place, other: Place) -> Array:
    """Return how errors of two lists of configurations go together.

    Within a site: site^2 + sum over parts (error of the part)^2 x share x share' + accelerator^2 and workload^2 where
    these are the same + nearby^2 x exp(-distance^2 / 2) + what is unknown of the accelerator or framework. A run that
    waits for its host says how slow the host is, and little of the products.
    """
    import numpy as np

    def same(level: str) -> Array:
        left = np.array([getattr(label, level) for label in one.labels], dtype=object)
        right = np.array([getattr(label, level) for label in other.labels], dtype=object)
        return np.asarray(left[:, None] == right[None, :], dtype=float)

    site = same("source")
    here = site * same("accelerator")
    workload = site * same("workload")
    distance = ((one.features[:, None, :] - other.features[None, :, :]) ** 2).sum(axis=2)
    parts = sum(
        error**2 * one.shares[name][:, None] * other.shares[name][None, :] for name, error in PART_ERROR.items()
    )
    unknown = np.sqrt(_unknown(one)[:, None] * _unknown(other)[None, :])
    return np.asarray(
        site * (SITE**2 + parts)
        + here * SHARED_UNKNOWN * unknown
        + here * ACCELERATOR**2
        + workload * WORKLOAD**2
        + site * NEARBY**2 * np.exp(-0.5 * distance)
        + here * workload * REPEATED**2 * np.exp(-0.5 * distance / SAME**2)
    )


def _unknown(place: Place) -> Array:
    """Return the variance of what is not known beforehand: it is the same for all runs of one accelerator and site."""
    import numpy as np

    parts = np.sum([(error * place.shares[name]) ** 2 for name, error in PART_ERROR.items()], axis=0)
    return np.asarray(np.maximum(0.0, place.expected**2 - COMMON_VARIANCE - parts))


def update(asked: Place, anchors: Place, errors: Array) -> Posterior:
    """Condition the error of each prediction on the errors seen at the anchors.

    shift = k K^-1 r,  left^2 = (k'' - k K^-1 k') / k''
    What lies beyond twice the expected error counts as noise of that run: one odd run does not carry the rest away.
    Source: Gaussian conditioning, Rasmussen and Williams 2006, section 2.2.
    """
    import numpy as np

    surprise = np.maximum(0.0, np.abs(errors) - BELIEVED * anchors.expected)
    between = covariance(anchors, anchors) + np.diag(NOISE**2 + surprise**2)
    towards = covariance(asked, anchors)
    weights = np.linalg.solve(between, towards.T).T
    explained = (weights * towards).sum(axis=1)
    left = np.sqrt(np.maximum(NOISE**2, asked.expected**2 - explained) / asked.expected**2)
    return Posterior(weights @ errors, np.minimum(1.0, left), weights)
