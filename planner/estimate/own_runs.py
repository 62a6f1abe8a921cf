"""What a user's own runs change: a Gaussian posterior of the model's logarithmic error, in closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from planner.estimate.expected_error import ACCELERATOR, NEARBY, NOISE, PART_ERROR, SITE, WORKLOAD

if TYPE_CHECKING:
    from planner.estimate.observation import Labels
    from planner.estimate.physics.configs import Array, Configs

NEARBY_SCALE = {"gpus": 1.5, "tokens": 2.0, "length": 1.5, "splits": 1.0, "format": 0.7}
"""Doublings after which nearby settings say little of each other."""


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

    tokens = configs.micro_batch * configs.seq_len
    columns = [
        np.log2(configs.gpus) / NEARBY_SCALE["gpus"],
        np.log2(tokens) / NEARBY_SCALE["tokens"],
        np.log2(configs.seq_len) / NEARBY_SCALE["length"],
        np.log2(configs.tp) / NEARBY_SCALE["splits"],
        np.log2(configs.pp) / NEARBY_SCALE["splits"],
        (configs.zero >= 3) / NEARBY_SCALE["splits"],
        (configs.zero >= 1) / NEARBY_SCALE["splits"] / 2,
        configs.recompute / NEARBY_SCALE["splits"],
        np.log2(configs.peak) / NEARBY_SCALE["format"] / 2,
        np.log2(configs.layers * configs.hidden**2) / 3,
    ]
    return np.stack(columns, axis=1)


class Place(NamedTuple):
    """What the update needs of configurations: labels, shares of the parts of a step, place among settings."""

    labels: Sequence[Labels]
    shares: Mapping[str, Array]
    features: Array
    expected: Array


def covariance(one: Place, other: Place) -> Array:
    """Return how errors of two lists of configurations go together.

    Within a site: site^2 + sum over parts (error of the part)^2 x share x share' + accelerator^2, workload^2, nearby^2
    where these are the same, and what is unknown of the accelerator or framework. A run that waits for its host says
    how slow the host is, and little of the products.
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
        + here * workload * NEARBY**2 * np.exp(-0.5 * distance)
    )


def _unknown(place: Place) -> Array:
    """Return the variance of what is not known beforehand: it is the same for all runs of one accelerator and site."""
    import numpy as np

    known = SITE**2 + ACCELERATOR**2 + WORKLOAD**2 + NEARBY**2 + NOISE**2
    parts = np.sum([(error * place.shares[name]) ** 2 for name, error in PART_ERROR.items()], axis=0)
    return np.asarray(np.maximum(0.0, place.expected**2 - known - parts))


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
