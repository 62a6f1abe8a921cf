"""Estimator of image networks: it maps configurations to images/s per accelerator with ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner.speed.estimator.expected_error import (
    GROUPS,
    OWN_RUNS,
    KnownLabels,
    first_group,
    variance_of_parts,
    variance_of_scale,
    variance_of_unknown,
)
from planner.speed.estimator.image_fit import image_sample, model_image_step
from planner.speed.estimator.text_estimator import Estimates, Modelled, StepModel
from planner.speed.physics.observation import Observation, of_each

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.speed.estimator.fit_sample import Fit
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.image_config_arrays import ImageConfigs
    from planner.speed.physics.observation import Labels

LAYOUT_ERROR = 0.15
"""Additional error if the layout of images in memory is not stated: planes cost a 16-bit ResNet-50 a third of its
speed."""
NEARBY_IMAGES_SCALE = {
    "gpus": 1.5,
    "images": 2.0,
    "zero3": 1.0,
    "recompute": 1.0,
    "channels_last": 1.0,
    "fused": 1.0,
    "peak": 1.4,
    "size": 3.0,
}
"""Doublings (of flags: whole steps) after which settings of image networks inform little about each other."""


def features(configs: ImageConfigs) -> Array:
    """Return the coordinates of configurations, in units of `NEARBY_IMAGES_SCALE`."""
    import numpy as np

    columns = {
        "gpus": np.log2(configs.gpus),
        "images": np.log2(configs.micro_batch),
        "zero3": configs.zero >= 3,
        "recompute": configs.recompute,
        "channels_last": configs.channels_last,
        "fused": configs.fused,
        "peak": np.log2(configs.peak),
        "size": np.log2(configs.parameters),
    }
    return np.stack([values / NEARBY_IMAGES_SCALE[name] for name, values in columns.items()], axis=1)


def _groups(configs: ImageConfigs, labels: Sequence[Labels], known: KnownLabels) -> tuple[str, ...]:
    """Return the first group that fits each prediction, by what it lacks."""
    conditions = {
        "new generation": known.lacks(labels, "generation"),
        "new accelerator": known.lacks(labels, "accelerator"),
        "new scale": configs.gpus > known.largest,
        "cards over PCIe": (configs.gpus > 1) & (configs.pcie > 0),
        "new framework": known.lacks(labels, "framework"),
    }
    return first_group((*conditions, GROUPS[-1]), list(conditions.values()))


def _expected_error(
    configs: ImageConfigs, labels: Sequence[Labels], shares: Mapping[str, Array], known: KnownLabels
) -> Array:
    """Return the standard deviations of ln(measured / predicted), including the error of an unstated layout."""
    import numpy as np

    not_stated = 4 * configs.channels_last * (1 - configs.channels_last)
    variance = variance_of_parts(shares, len(configs)) + (LAYOUT_ERROR * not_stated) ** 2
    variance = variance + of_each(labels, lambda label: variance_of_unknown(label, known))
    return np.asarray(np.sqrt(variance + variance_of_scale(configs.gpus, known)))


OF_IMAGES = StepModel(
    image_sample,
    model_image_step,
    features,
    _expected_error,
    _groups,
    lambda configs: (OWN_RUNS,) * len(configs),
)


def estimate_images(
    configs: ImageConfigs, labels: Sequence[Labels], calibration: Calibration, *, own: Sequence[Observation] = ()
) -> Estimates:
    """Estimate images/s per accelerator of image networks, corrected by `own` measurements."""
    return OF_IMAGES.estimate(configs, labels, calibration, own)


def model_images(fit: Fit, configs: ImageConfigs, labels: Sequence[Labels], known: KnownLabels) -> Modelled:
    """Model steps of image networks without own measurements."""
    return OF_IMAGES.modelled(fit, configs, labels, known)
