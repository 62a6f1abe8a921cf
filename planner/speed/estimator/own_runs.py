"""What a user's own runs change: a Gaussian posterior of the model's logarithmic error, in closed form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from planner.speed.estimator.expected_error import (
    ACCELERATOR,
    COMMON_VARIANCE,
    NEARBY,
    NOISE,
    PART_ERROR,
    REPEATED,
    SITE,
    WORKLOAD,
)
from planner.speed.estimator.lone_kernel_errors import Lone, no_kernels, transfer_covariance

if TYPE_CHECKING:
    from planner.speed.estimator.fit_sample import StepConfigs
    from planner.speed.physics.config_arrays import Array, Configs
    from planner.speed.physics.observation import Labels

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
    "materialised": 1.1,
    "experts": 0.7,
    "quantized": 1.2,
    "fused": 0.6,
    "flash": 1.1,
    "variable_length": 0.9,
}
"""Doublings (of flags: whole steps) after which nearby settings say little of each other."""
SAME = 0.2
"""Share of these distances within which settings count as the same."""

OUTLIER_CUTOFF = 2.0
"""Expected errors up to which a run's own error is taken at its word."""
SITE_VARIANCE_SHARE = 0.9
"""Share of what lies beyond that is held for the site's, whose other runs would show it too; the rest is that run's
own. Most held-out sources that are odd are odd in every row."""

MOST_DOUBT = 2.0
"""How far a site that proved odd widens what is expected of it, at most."""
SHARED_UNKNOWN = 0.5
"""Share of what is unknown of an accelerator or framework that is the same for all runs there."""


WIRES = ("split", "sharding", "gradients", "waiting")
"""Parts of a step that are as slow as what joins its accelerators: other wires inside a node than between nodes."""


PRIOR_RUNS = 4.0
"""Runs that the stated spread of kernels alone against kernels inside trainings is worth."""
WIDEST_TRANSFER = 3.0


class Posterior(NamedTuple):
    """The expected logarithmic error, and its standard deviation then against before, over 1 where a site is odd."""

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
        "materialised": configs.materialises_weights,
        "experts": configs.experts > 1,
        "quantized": configs.quantized,
        "fused": configs.fused,
        "flash": configs.flash,
        "variable_length": configs.variable_length,
    }
    return np.stack([values / NEARBY_SCALE[name] for name, values in columns.items()], axis=1)


class UpdatePoints(NamedTuple):
    """What the update needs of configurations: labels, shares of the parts of a step, place among settings."""

    labels: Sequence[Labels]
    shares: Mapping[str, Array]
    features: Array
    expected: Array
    between_nodes: Array
    """1: it spans several nodes, or several racks with one link domain."""
    lone: Lone | None = None
    """Which of them are kernels of a probe; None: none is."""

    def at(self, chosen: Array) -> UpdatePoints:
        """Return some of the configurations."""
        return UpdatePoints(
            [self.labels[int(number)] for number in chosen],
            {name: share[chosen] for name, share in self.shares.items()},
            self.features[chosen],
            self.expected[chosen],
            self.between_nodes[chosen],
            None if self.lone is None else self.lone.at(chosen),
        )

    @property
    def kernels(self) -> Lone:
        """Return which of them are kernels of a probe."""
        return no_kernels(len(self.labels)) if self.lone is None else self.lone


def spans_nodes(configs: StepConfigs) -> Array:
    """Return where a training has more accelerators than one link domain joins."""
    import numpy as np

    return np.asarray(configs.gpus > configs.nvlink_domain)


def covariance(one: UpdatePoints, other: UpdatePoints) -> Array:
    """Return how errors of two lists of configurations go together.

    Within a site: site^2 + sum over parts (error of the part)^2 x share x share' + accelerator^2 and workload^2 where
    these are the same + nearby^2 x exp(-distance^2 / 2) + what is unknown of the accelerator or framework. A run that
    waits for its host says how slow the host is, and little of the products. What is odd of a site as a whole, and of
    its wires, does not cross the border of a node: runs on one node say of several what accelerators and hosts do.
    A kernel of a probe has the errors of its parts in common with a training, and nothing of the rest; those of one
    kind have in common how far a kernel alone is from one inside a training.
    """
    import numpy as np

    trains = np.outer(~one.kernels.alone, ~other.kernels.alone)
    site = _same(one, other, "source")
    wires = one.between_nodes[:, None] == other.between_nodes[None, :]
    here = site * _same(one, other, "accelerator")
    workload = site * _same(one, other, "workload")
    distance = ((one.features[:, None, :] - other.features[None, :, :]) ** 2).sum(axis=2)
    parts = sum(
        error**2 * one.shares[name][:, None] * other.shares[name][None, :] * (wires if name in WIRES else 1.0)
        for name, error in PART_ERROR.items()
    )
    unknown = np.sqrt(_unknown(one)[:, None] * _unknown(other)[None, :])
    common = (
        site * SITE**2 * wires
        + here * ACCELERATOR**2
        + workload * WORKLOAD**2
        + site * NEARBY**2 * np.exp(-0.5 * distance)
        + here * workload * REPEATED**2 * np.exp(-0.5 * distance / SAME**2)
    )
    between_kernels = transfer_covariance(one.kernels, other.kernels)
    return np.asarray(trains * common + site * parts + here * SHARED_UNKNOWN * unknown + between_kernels)


def _same(one: UpdatePoints, other: UpdatePoints, level: str) -> Array:
    """Return 1 where two configurations have a label in common, else 0."""
    import numpy as np

    left, right = (np.array([getattr(label, level) for label in place.labels], dtype=object) for place in (one, other))
    return np.asarray(left[:, None] == right[None, :], dtype=float)


def _same_site(one: UpdatePoints, other: UpdatePoints) -> Array:
    """Return 1 where two trainings are of one site, and both on one node or both on several."""
    import numpy as np

    trains = np.outer(~one.kernels.alone, ~other.kernels.alone)
    return np.asarray(
        trains * _same(one, other, "source") * (one.between_nodes[:, None] == other.between_nodes[None, :])
    )


def _unknown(place: UpdatePoints) -> Array:
    """Return the variance of what is not known beforehand: it is the same for all runs of one accelerator and site."""
    import numpy as np

    parts = np.sum([(error * place.shares[name]) ** 2 for name, error in PART_ERROR.items()], axis=0)
    known = np.where(place.kernels.alone, place.kernels.own_variance + NOISE**2, COMMON_VARIANCE)
    return np.asarray(np.maximum(0.0, place.expected**2 - known - parts))


def update(asked: UpdatePoints, anchors: UpdatePoints, errors: Array) -> Posterior:
    """Condition the error of each prediction on the errors seen at the anchors.

    shift = k K^-1 r,  left^2 = (k'' - k K^-1 k') / expected^2, at most 2^2
    What lies beyond twice the expected error is divided: a part counts for the whole site, as a machine that is slow
    for a reason nobody knows is slow in all runs; the rest is noise of that run, so that one odd run does not carry
    the others away.
    Source: Gaussian conditioning, Rasmussen and Williams 2006, section 2.2.
    """
    import numpy as np

    anchors = with_learnt_transfer(anchors, errors)
    surprise = np.maximum(0.0, np.abs(errors) - OUTLIER_CUTOFF * anchors.expected) ** 2
    same_site = _same_site(anchors, anchors)
    odd = SITE_VARIANCE_SHARE * (same_site @ surprise) / np.maximum(1.0, same_site.sum(axis=1))
    own = np.where(anchors.kernels.alone, 1.0, 1 - SITE_VARIANCE_SHARE) * surprise
    between = covariance(anchors, anchors) + same_site * odd[None, :]
    between = between + np.diag(NOISE**2 + own)
    towards_odd = _same_site(asked, anchors) * odd[None, :]
    towards = covariance(asked, anchors) + towards_odd
    weights = np.linalg.solve(between, towards.T).T
    explained = (weights * towards).sum(axis=1)
    before = asked.expected**2 + towards_odd.max(axis=1)
    left = np.sqrt(np.maximum(NOISE**2, before - explained) / asked.expected**2)
    return Posterior(weights @ errors, np.minimum(MOST_DOUBT, left * contradiction(anchors, errors)), weights)


def with_learnt_transfer(anchors: UpdatePoints, errors: Array) -> UpdatePoints:
    """Return the anchors with what runs beside them say of kernels alone against kernels inside trainings.

    transfer^2 = prior^2 x (4 + sum z^2) / (4 + runs), z each run's error in its standard deviations given the kernels:
    the mean of a scaled inverse chi-squared with 4 degrees before any run. Where there are no such runs the prior
    stands.
    """
    import numpy as np

    z = surprise_of_runs(anchors, errors)
    if not len(z):
        return anchors
    scale = math.sqrt((PRIOR_RUNS + float((z**2).sum())) / (PRIOR_RUNS + len(z)))
    scale = min(WIDEST_TRANSFER, max(1 / WIDEST_TRANSFER, scale))
    lone = anchors.kernels
    changed = lone._replace(transfer=lone.transfer * scale)
    grown = changed.own_variance - lone.own_variance
    return anchors._replace(
        lone=changed, expected=np.sqrt(np.maximum(NOISE**2, anchors.expected**2 + np.where(lone.measured, grown, 0.0)))
    )


def contradiction(anchors: UpdatePoints, errors: Array) -> float:
    """Return by how much ranges widen where kernels and runs contradict each other: z / 2 of the worst run, over 1."""
    z = surprise_of_runs(anchors, errors)
    return max(1.0, float(abs(z).max()) / OUTLIER_CUTOFF) if len(z) else 1.0


def surprise_of_runs(anchors: UpdatePoints, errors: Array) -> Array:
    """Return each run's error against what the kernels beside it say, in its standard deviations; none without both."""
    import numpy as np

    lone = anchors.kernels
    kernels, runs = np.flatnonzero(lone.measured), np.flatnonzero(~lone.measured)
    if not len(kernels) or not len(runs):
        return np.zeros(0)
    seen, said = anchors.at(runs), anchors.at(kernels)
    towards = covariance(seen, said)
    weights = np.linalg.solve(covariance(said, said) + NOISE**2 * np.eye(len(kernels)), towards.T).T
    variance = np.maximum(NOISE**2, seen.expected**2 - (weights * towards).sum(axis=1)) + NOISE**2
    return np.asarray((errors[runs] - weights @ errors[kernels]) / np.sqrt(variance))
