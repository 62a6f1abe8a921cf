"""The estimator of image networks: configurations in, images/s per accelerator with ranges out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner.speed.estimator.expected_error import (
    COMMON_VARIANCE,
    DOUBLING_ERROR,
    GROUPS,
    OWN_RUNS,
    PART_ERROR,
    UNKNOWN_ERROR,
    KnownLabels,
)
from planner.speed.estimator.image_fit import image_sample, model_image_step
from planner.speed.estimator.text_estimator import Estimates, Modelled, StepModel
from planner.speed.physics.observation import Observation, of_each

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.speed.estimator.text_fit import Fit
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.image_config_arrays import ImageConfigs
    from planner.speed.physics.observation import Labels

LAYOUT_ERROR = 0.15
"""On top, where the layout of images in memory is not stated: planes cost a 16-bit ResNet-50 a third of its speed."""
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
"""Doublings (of flags: whole steps) after which nearby settings of image networks say little of each other."""


def features(configs: ImageConfigs) -> Array:
    """Return where a configuration lies, in units of the distance that nearby settings may have."""
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


def groups_of_images(configs: ImageConfigs, labels: Sequence[Labels], known: KnownLabels) -> tuple[str, ...]:
    """Name the group of each prediction by what it lacks: the first that fits."""
    import numpy as np

    def lacks(level: str) -> Array:
        return of_each(labels, lambda label: float(not known.has(level, getattr(label, level)))) > 0

    names = ("new generation", "new accelerator", "new scale", "cards over PCIe", "new framework", GROUPS[-1])
    holds = [
        lacks("generation"),
        lacks("accelerator"),
        configs.gpus > known.largest,
        (configs.gpus > 1) & (configs.pcie > 0),
        lacks("framework"),
        np.ones(len(configs), dtype=bool),
    ]
    return tuple(np.array(names, dtype=object)[np.argmax(holds, axis=0)].tolist())


def _expected_error(
    configs: ImageConfigs, labels: Sequence[Labels], shares: Mapping[str, Array], known: KnownLabels
) -> Array:
    """Return the standard deviation of ln(measured / predicted): as of text, and for a layout that is not stated."""
    import numpy as np

    variance = np.full(len(configs), COMMON_VARIANCE)
    for name, error in PART_ERROR.items():
        variance = variance + (shares[name] * error) ** 2
    not_stated = 4 * configs.channels_last * (1 - configs.channels_last)
    variance = variance + (LAYOUT_ERROR * not_stated) ** 2
    variance = variance + of_each(
        labels,
        lambda label: sum(
            error**2 for level, error in UNKNOWN_ERROR.items() if not known.has(level, getattr(label, level))
        ),
    )
    beyond = np.maximum(0.0, np.log2(configs.gpus / max(1, known.largest)))
    return np.asarray(np.sqrt(variance + (DOUBLING_ERROR * beyond) ** 2))


OF_IMAGES = StepModel(
    image_sample,
    model_image_step,
    features,
    _expected_error,
    groups_of_images,
    lambda configs: (OWN_RUNS,) * len(configs),
)


def estimate_images(
    configs: ImageConfigs, labels: Sequence[Labels], calibration: Calibration, *, own: Sequence[Observation] = ()
) -> Estimates:
    """Estimate configurations of image networks: images/s per accelerator, corrected by `own` measurements."""
    return OF_IMAGES.estimate(configs, labels, calibration, own)


def model_images(fit: Fit, configs: ImageConfigs, labels: Sequence[Labels], known: KnownLabels) -> Modelled:
    """Return modelled steps of image networks."""
    return OF_IMAGES.modelled(fit, configs, labels, known)
