"""What a user's own runs change: a Gaussian posterior of the model's logarithmic error, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from planner.estimate.measured_config import Labels
    from planner.estimate.physics.configs import Array, Configs

SHARED = {"site": 0.30, "accelerator": 0.15, "workload": 0.20, "nearby": 0.32}
"""Which share of the error's variance is the same for two measurements of one site, of one accelerator and one workload
there, and of nearby settings; the rest, 3 %, is noise."""
NEARBY_SCALE = {"gpus": 1.5, "tokens": 2.0, "length": 1.5, "splits": 1.0, "format": 0.7}
"""Doublings after which nearby settings say little of each other."""


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


def correlation(one: Array, labels: Sequence[Labels], other: Array, others: Sequence[Labels]) -> Array:
    """Return the correlation of errors between two lists of configurations."""
    import numpy as np

    def same(level: str) -> Array:
        left = np.array([getattr(label, level) for label in labels], dtype=object)
        right = np.array([getattr(label, level) for label in others], dtype=object)
        return np.asarray(left[:, None] == right[None, :], dtype=float)

    site = same("source")
    distance = ((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=2)
    here = site * same("accelerator")
    workload = site * same("workload")
    return np.asarray(
        SHARED["site"] * site
        + SHARED["accelerator"] * here
        + SHARED["workload"] * workload
        + SHARED["nearby"] * here * workload * np.exp(-0.5 * distance)
    )


def update(
    *,
    configs: Configs,
    labels: Sequence[Labels],
    expected: Array,
    anchors: Configs,
    anchor_labels: Sequence[Labels],
    anchor_expected: Array,
    anchor_errors: Array,
) -> Posterior:
    """Condition the error of each prediction on the errors seen at the anchors.

    shift = k K^-1 r,  left^2 = 1 - k K^-1 k' ;  K_ij = expected_i expected_j correlation_ij
    Source: Gaussian conditioning, Rasmussen and Williams 2006, section 2.2.
    """
    import numpy as np

    own, there = features(configs), features(anchors)
    between = correlation(there, anchor_labels, there, anchor_labels)
    np.fill_diagonal(between, 1.0)
    towards = correlation(own, labels, there, anchor_labels)
    weights = np.linalg.solve(between, towards.T).T
    shift = expected * (weights @ (anchor_errors / anchor_expected))
    left = np.sqrt(np.maximum(0.0, 1 - (weights * towards).sum(axis=1)))
    pull = weights * expected[:, None] / anchor_expected[None, :]
    return Posterior(shift, left, pull)
