"""Correction by a user's own runs: the Gaussian posterior of the model's logarithmic error, in closed form."""

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
from planner.speed.estimator.lone_kernel_errors import ProbedKernels, no_kernels, transfer_covariance

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
    "materialized": 1.1,
    "experts": 0.7,
    "quantized": 1.2,
    "fused": 0.6,
    "flash": 1.1,
    "variable_length": 0.9,
}
"""Doublings (of flags: whole steps) after which settings inform little about each other."""
SAME = 0.2
"""Share of these distances within which settings count as equal."""

OUTLIER_CUTOFF = 2.0
"""Number of expected errors beyond which a run's error counts as surprising."""
SITE_VARIANCE_SHARE = 0.9
"""Share of the surprising variance that is attributed to the site, so that its other runs are expected to show it too.
The rest belongs to the run. Most held-out sources that are odd are odd in every row."""

MOST_DOUBT = 2.0
"""Largest factor by which own runs widen the expected error of an odd site."""
SHARED_UNKNOWN = 0.5
"""Share of the unknown variance of an accelerator or framework that all runs there have in common."""


WIRES = ("split", "sharding", "gradients", "waiting")
"""Parts of a step that depend on the links between accelerators, which differ inside a node and between nodes."""


PRIOR_RUNS = 4.0
"""Weight, in runs, of the stated spread between kernels alone and kernels inside trainings."""
WIDEST_TRANSFER = 3.0
"""Largest factor by which runs change that spread, upwards or downwards."""


class Posterior(NamedTuple):
    """Errors of predictions, given the errors of the anchors."""

    shift: Array
    """Expected logarithmic error."""
    left: Array
    """Standard deviation after the update over the one before. It exceeds 1 if a site proved odd."""
    pull: Array
    """Share of each anchor's error that each prediction takes over: predictions x anchors."""


def features(configs: Configs) -> Array:
    """Return the coordinates of configurations, in units of `NEARBY_SCALE`."""
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
        "materialized": configs.materializes_weights,
        "experts": configs.experts > 1,
        "quantized": configs.quantized,
        "fused": configs.fused,
        "flash": configs.flash,
        "variable_length": configs.variable_length,
    }
    return np.stack([values / NEARBY_SCALE[name] for name, values in columns.items()], axis=1)


class UpdatePoints(NamedTuple):
    """Configurations as the update needs them: labels, shares of the parts of a step, coordinates, expected errors."""

    labels: Sequence[Labels]
    shares: Mapping[str, Array]
    features: Array
    expected: Array
    between_nodes: Array
    """True if the training spans several nodes, or several racks with one link domain."""
    lone: ProbedKernels | None = None
    """Kernels of a probe among them, or None if there are none."""

    def at(self, chosen: Array) -> UpdatePoints:
        """Return the configurations at the places `chosen`."""
        return UpdatePoints(
            [self.labels[int(number)] for number in chosen],
            {name: share[chosen] for name, share in self.shares.items()},
            self.features[chosen],
            self.expected[chosen],
            self.between_nodes[chosen],
            None if self.lone is None else self.lone.at(chosen),
        )

    @property
    def kernels(self) -> ProbedKernels:
        """Kernels of a probe among them."""
        return no_kernels(len(self.labels)) if self.lone is None else self.lone


def spans_nodes(configs: StepConfigs) -> Array:
    """Return which trainings have more accelerators than one link domain joins."""
    import numpy as np

    return np.asarray(configs.gpus > configs.nvlink_domain)


def covariance(rows: UpdatePoints, columns: UpdatePoints) -> Array:
    """Return the covariance of the errors of two lists of configurations.

    Within a site: site^2 + sum over parts (error of the part)^2 x share x share' + accelerator^2 and workload^2 if
    these are equal + nearby^2 x exp(-distance^2 / 2) + shared part of the unknown variance. For example, a run that
    waits for its host informs about the host and little about the products. Errors of the site as a whole and of its
    links are shared only by runs that are both inside a node or both between nodes. A kernel of a probe shares the
    errors of its parts with a training; kernels of one kind also share the error of running alone.
    """
    import numpy as np

    trains = np.outer(~rows.kernels.alone, ~columns.kernels.alone)
    site = _equal_labels(rows, columns, "source")
    wires = rows.between_nodes[:, None] == columns.between_nodes[None, :]
    same_accelerator = site * _equal_labels(rows, columns, "accelerator")
    workload = site * _equal_labels(rows, columns, "workload")
    distance = ((rows.features[:, None, :] - columns.features[None, :, :]) ** 2).sum(axis=2)
    parts = sum(
        error**2 * rows.shares[name][:, None] * columns.shares[name][None, :] * (wires if name in WIRES else 1.0)
        for name, error in PART_ERROR.items()
    )
    unknown = np.sqrt(unknown_variance(rows)[:, None] * unknown_variance(columns)[None, :])
    common = (
        site * SITE**2 * wires
        + same_accelerator * ACCELERATOR**2
        + workload * WORKLOAD**2
        + site * NEARBY**2 * np.exp(-0.5 * distance)
        + same_accelerator * workload * REPEATED**2 * np.exp(-0.5 * distance / SAME**2)
    )
    between_kernels = transfer_covariance(rows.kernels, columns.kernels)
    return np.asarray(trains * common + site * parts + same_accelerator * SHARED_UNKNOWN * unknown + between_kernels)


def _equal_labels(rows: UpdatePoints, columns: UpdatePoints, level: str) -> Array:
    """Return 1 for pairs of configurations with equal labels on a level, else 0."""
    import numpy as np

    left, right = (
        np.array([getattr(label, level) for label in place.labels], dtype=object) for place in (rows, columns)
    )
    return np.asarray(left[:, None] == right[None, :], dtype=float)


def _same_site(rows: UpdatePoints, columns: UpdatePoints) -> Array:
    """Return 1 for pairs of trainings of one site that are both inside a node or both between nodes, else 0."""
    import numpy as np

    trains = np.outer(~rows.kernels.alone, ~columns.kernels.alone)
    return np.asarray(
        trains
        * _equal_labels(rows, columns, "source")
        * (rows.between_nodes[:, None] == columns.between_nodes[None, :])
    )


def unknown_variance(place: UpdatePoints) -> Array:
    """Return the variance beyond known causes. All runs of one accelerator and site share a part of it."""
    import numpy as np

    parts = np.sum([(error * place.shares[name]) ** 2 for name, error in PART_ERROR.items()], axis=0)
    known = np.where(place.kernels.alone, place.kernels.own_variance + NOISE**2, COMMON_VARIANCE)
    return np.asarray(np.maximum(0.0, place.expected**2 - known - parts))


def update(points: UpdatePoints, anchors: UpdatePoints, errors: Array) -> Posterior:
    """Condition the error of each prediction on the errors of the anchors.

    shift = k K^-1 r,  left^2 = (k'' - k K^-1 k') / expected^2, at most 2^2
    An anchor's error beyond twice its expected error is divided. Most of it counts for the whole site, because a
    machine that is slow for an unknown reason is slow in all runs. The rest counts as noise of that run, so that one
    odd run does not distort the others.
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
    towards_odd = _same_site(points, anchors) * odd[None, :]
    towards = covariance(points, anchors) + towards_odd
    weights = np.linalg.solve(between, towards.T).T
    explained = (weights * towards).sum(axis=1)
    before = points.expected**2 + towards_odd.max(axis=1)
    left = np.sqrt(np.maximum(NOISE**2, before - explained) / points.expected**2)
    return Posterior(weights @ errors, np.minimum(MOST_DOUBT, left * contradiction(anchors, errors)), weights)


def with_learnt_transfer(anchors: UpdatePoints, errors: Array) -> UpdatePoints:
    """Return the anchors with the spread between kernels alone and inside trainings learnt from the runs among them.

    transfer^2 = prior^2 x (4 + sum z^2) / (4 + runs), where z is a run's error given the kernels in its standard
    deviations: the mean of a scaled inverse chi-squared with 4 degrees before any run. Without such runs, the prior
    remains.
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
    """Return the factor by which ranges widen if kernels and runs contradict each other: z / 2 of the worst run."""
    z = surprise_of_runs(anchors, errors)
    return max(1.0, float(abs(z).max()) / OUTLIER_CUTOFF) if len(z) else 1.0


def surprise_of_runs(anchors: UpdatePoints, errors: Array) -> Array:
    """Return each run's error given the kernels, in its standard deviations. The array is empty without kernels."""
    import numpy as np

    lone = anchors.kernels
    kernels, runs = np.flatnonzero(lone.measured), np.flatnonzero(~lone.measured)
    if not len(kernels) or not len(runs):
        return np.zeros(0)
    of_runs, of_kernels = anchors.at(runs), anchors.at(kernels)
    towards = covariance(of_runs, of_kernels)
    weights = np.linalg.solve(covariance(of_kernels, of_kernels) + NOISE**2 * np.eye(len(kernels)), towards.T).T
    variance = np.maximum(NOISE**2, of_runs.expected**2 - (weights * towards).sum(axis=1)) + NOISE**2
    return np.asarray((errors[runs] - weights @ errors[kernels]) / np.sqrt(variance))
