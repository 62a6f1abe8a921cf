"""Physics of image networks for the estimator: its fit to measurements, and its expected errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from planner.speed.estimator.fit_sample import Fit, FitSample, PhysicsProblem
from planner.speed.estimator.text_estimator import Physics
from planner.speed.estimator.text_fit import device_effect
from planner.speed.physics import image_step as image_physics
from planner.speed.physics.image_config_arrays import ImageConfigs, gather
from planner.speed.physics.image_step import counted_bytes, image_step
from planner.speed.physics.observation import Observation, of_each
from planner.speed.physics.parameters import IMAGE_PARAMETERS
from planner.speed.physics.part_formula import places_of

if TYPE_CHECKING:
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


def with_image_effects(fitted: Fit, configs: ImageConfigs, labels: Sequence[Labels]) -> ImageConfigs:
    """Return the configurations scaled by the effects of their chips, accelerators and frameworks."""
    import numpy as np

    host = of_each(labels, lambda label: fitted.effects["host"].get(label.framework, 0.0))
    return replace(configs, host_scale=np.exp(host), device_scale=np.exp(device_effect(fitted.effects, labels)))


class _ImageProblem(PhysicsProblem):
    """Fit of image networks."""

    noise, tail, rounds = NOISE, TAIL, 40

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
        self.of_host = np.array([level == "host" for level, _ in effects], dtype=bool)
        self.of_device = np.array([level in ("chip", "accelerator") for level, _ in effects], dtype=bool)
        self.of_step = ~(self.of_host | self.of_device)

    def modelled(self, state: Array) -> Array:
        """Return ln of the modelled step seconds."""
        import numpy as np

        effects = state[self.constants :]
        host, device = (
            np.exp(self.design[:, columns] @ effects[columns]) for columns in (self.of_host, self.of_device)
        )
        seconds = image_step(
            replace(self.data.configs, host_scale=host, device_scale=device), self.constants_of(state)
        ).seconds
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


def _features(configs: ImageConfigs) -> Array:
    """Return the coordinates of configurations, scaled as those of text networks (`own_runs.features`)."""
    import numpy as np

    columns = (
        np.log2(configs.gpus) / 1.5,
        np.log2(configs.micro_batch) / 2.0,
        (configs.zero >= 3) / 1.0,
        configs.recompute,
        configs.channels_last,
        configs.fused,
        np.log2(configs.peak) / 1.4,
        np.log2(configs.parameters) / 3.0,
    )
    return np.stack(columns, axis=1)


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


def _work(row: Observation) -> str:
    """Return the work of one image in words."""
    traffic = float(counted_bytes(gather([row.described]))[0])
    return f", each {row.config['flops'] / 1e9:.5g} GFLOP and {traffic / 1e6:.4g} MB of traffic,"


OF_IMAGES = Physics(
    name="estimator of images",
    unit="images",
    parameters=IMAGE_PARAMETERS,
    places=places_of(image_physics),
    configs=lambda rows: gather([row.described for row in rows]),
    problem=_ImageProblem,
    with_effects=with_image_effects,
    step=image_physics.image_step,
    formula_seconds=image_physics.image_formula_seconds,
    features=_features,
    expected_error=_expected_error,
    groups=_groups,
    groups_with_own_runs=lambda configs: (OWN_RUNS,) * len(configs),
    work=_work,
)
