"""Estimator of image networks: the fit of its physics to measurements, and images/s per accelerator with ranges."""

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
from planner.speed.estimator.fit_sample import Fit, FitSample, PhysicsProblem, prior_fit, sample_of
from planner.speed.estimator.text_estimator import Estimates, Modelled, StepModel
from planner.speed.estimator.text_fit import WHOLE_STEP, device_effect
from planner.speed.physics.image_config_arrays import ImageConfigs, gather
from planner.speed.physics.image_step import image_step
from planner.speed.physics.observation import Observation, of_each
from planner.speed.physics.parameters import IMAGE_PARAMETERS

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Labels

LEVEL_SPREAD = {"chip": 0.08, "accelerator": 0.02, "framework": 0.10, "source": 0.10, "host": 0.5}
"""Standard deviations of logarithmic effects. Chip and accelerator affect the accelerator's own time, framework and
source the whole step, and "host" is a framework's time to launch a kernel."""
LABEL_OF_LEVEL = {level: level for level in LEVEL_SPREAD} | {"host": "framework"}
NOISE = 0.06
"""Standard deviation of the part of a measurement's error that the physics does not explain."""
TAIL = 4.0
"""Degrees of freedom of the errors (Student's t), so that a wrong row pulls little."""
SOURCE_POWER = -0.5
"""Exponent of a row's weight: each row of a source of n rows weighs n^-0.5, because many accelerators in one table of
one network are not many facts."""
STEP = 1e-4
"""Change of a logarithm for numerical derivatives."""


ImageSample = FitSample[ImageConfigs]
"""Measurements of image networks."""


def image_sample(observations: Sequence[Observation]) -> ImageSample:
    """Return observations of image networks as a sample."""
    return sample_of(gather([observation.described for observation in observations]), observations)


def prior_image_fit() -> Fit:
    """Return the constants before any evidence, and no effects."""
    return prior_fit(IMAGE_PARAMETERS, tuple(LEVEL_SPREAD))


def model_image_step(fitted: Fit, configs: ImageConfigs, labels: Sequence[Labels]) -> tuple[Array, dict[str, Array]]:
    """Return ln of the modelled step seconds, with the effects of known labels, and the shares of the parts."""
    import numpy as np

    effects = fitted.effects
    added = of_each(labels, lambda label: sum(effects[name].get(getattr(label, name), 0.0) for name in WHOLE_STEP))
    modelled = image_step(with_image_effects(fitted, configs, labels), fitted.constants)
    return np.asarray(np.log(modelled.seconds) + added), modelled.shares


def with_image_effects(fitted: Fit, configs: ImageConfigs, labels: Sequence[Labels]) -> ImageConfigs:
    """Return the configurations scaled by the effects of their chips, accelerators and frameworks."""
    import numpy as np

    host = of_each(labels, lambda label: fitted.effects["host"].get(label.framework, 0.0))
    return configs.scaled(host=np.exp(host), device=np.exp(device_effect(fitted.effects, labels)))


def fit_images(data: ImageSample, *, start: Fit | None = None, rounds: int = 40) -> Fit:
    """Find the most probable constants and effects.

    minimise  sum_i w_i t((ln measured_i - ln modelled_i - effects_i) / noise)
              + sum ((ln constant - ln prior) / spread)^2 / 2  +  sum (effect / spread of its level)^2 / 2

    by damped Gauss-Newton steps (Levenberg 1944, Marquardt 1963), t as in Student's distribution. Constants stay
    inside their bounds.
    """
    return _ImageProblem(data).most_probable(start, rounds) if data.labels else prior_image_fit()


class _ImageProblem(PhysicsProblem):
    """Fit of image networks."""

    noise, tail = NOISE, TAIL

    def __init__(self, data: ImageSample) -> None:
        import numpy as np

        self.data = data
        effects = [
            (level, name)
            for level, label in LABEL_OF_LEVEL.items()
            for name in sorted({getattr(labels, label) for labels in data.labels})
        ]
        super().__init__(data, IMAGE_PARAMETERS, effects, LEVEL_SPREAD, source_power=SOURCE_POWER)
        self.design = np.array(
            [
                [float(getattr(labels, LABEL_OF_LEVEL[level]) == name) for level, name in effects]
                for labels in data.labels
            ]
        )
        self.of_host = np.array([level == "host" for level, _ in effects])
        self.of_device = np.array([level in ("chip", "accelerator") for level, _ in effects])
        self.of_step = ~(self.of_host | self.of_device)

    def modelled(self, state: Array) -> Array:
        """Return ln of the modelled step seconds."""
        import numpy as np

        effects = state[self.constants :]
        host, device = (
            np.exp(self.design[:, columns] @ effects[columns]) for columns in (self.of_host, self.of_device)
        )
        seconds = image_step(self.data.configs.scaled(host=host, device=device), self.constants_of(state)).seconds
        return np.asarray(np.log(seconds) + self.design[:, self.of_step] @ effects[self.of_step])

    def residual(self, state: Array) -> Array:
        return self.data.log_seconds - self.modelled(state)

    def jacobian(self, state: Array) -> Array:
        import numpy as np

        base = self.modelled(state)

        def column(places: list[int]) -> Array:
            moved = state.copy()
            moved[places] += STEP
            return (self.modelled(moved) - base) / STEP

        columns = [column([place]) for place in range(self.constants)]
        parts = np.empty_like(self.design)
        # A row has one name per level, so all names of a level are moved together.
        for level in LEVEL_SPREAD:
            places = [place for place, (each, _) in enumerate(self.effects) if each == level]
            whole = self.of_step[places[0]]
            moved = 1.0 if whole else column([self.constants + place for place in places])[:, None]
            parts[:, places] = moved * self.design[:, places]
        return np.hstack([np.stack(columns, axis=1), parts])


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
