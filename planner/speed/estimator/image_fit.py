"""The fit of the physics of images to measurements: priors, robust errors, effects pooled over levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.speed.estimator.fit_sample import FitSample, sample_of
from planner.speed.estimator.robust_fit import RobustProblem
from planner.speed.estimator.text_fit import WHOLE_STEP, Fit, device_effect
from planner.speed.physics.image_config_arrays import ImageConfigs, gather
from planner.speed.physics.image_parameters import IMAGE_PARAMETERS
from planner.speed.physics.image_step import image_step
from planner.speed.physics.observation import Observation, of_each

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Labels

LEVEL_SPREAD = {"chip": 0.08, "accelerator": 0.02, "framework": 0.10, "source": 0.10}
"""Standard deviation of the logarithm of what a chip and an accelerator with it add to its own time, the others to all
of a step's."""
HOST_SPREAD = 0.5
"""The same of a framework's time to launch a kernel."""
NOISE = 0.06
"""Of one measurement, after everything that the physics knows."""
TAIL = 4.0
"""Degrees of freedom of the errors: Student's t, so that a wrong row pulls little."""
SOURCE_POWER = -0.5
"""A source of n rows weighs n^0.5: many accelerators of one network in one table are not many facts."""
STEP = 1e-4
"""Of a logarithm, for derivatives."""


ImageSample = FitSample[ImageConfigs]
"""Measurements of image networks."""


def image_sample(observations: Sequence[Observation]) -> ImageSample:
    """Gather observations."""
    return sample_of(gather([one.described for one in observations]), observations)


def prior_image_fit() -> Fit:
    """Return the constants before any evidence, and no effects."""
    return Fit({each.name: each.prior for each in IMAGE_PARAMETERS}, {level: {} for level in (*LEVEL_SPREAD, "host")})


def model_image_step(fitted: Fit, configs: ImageConfigs, labels: Sequence[Labels]) -> tuple[Array, dict[str, Array]]:
    """Return the logarithm of the modelled step seconds, with the effects of known labels, and the parts' shares."""
    import numpy as np

    effects = fitted.effects
    added = of_each(labels, lambda label: sum(effects[name].get(getattr(label, name), 0.0) for name in WHOLE_STEP))
    modelled = image_step(with_image_effects(fitted, configs, labels), fitted.constants)
    return np.asarray(np.log(modelled.seconds) + added), modelled.shares


def with_image_effects(fitted: Fit, configs: ImageConfigs, labels: Sequence[Labels]) -> ImageConfigs:
    """Return the configurations with what is known of their chips, accelerators and frameworks."""
    import numpy as np

    host = of_each(labels, lambda label: fitted.effects["host"].get(label.framework, 0.0))
    return configs.scaled(host=np.exp(host), device=np.exp(device_effect(fitted.effects, labels)))


def fit_images(data: ImageSample, *, start: Fit | None = None, rounds: int = 40) -> Fit:
    """Find the most probable constants and effects.

    minimise  sum_i w_i t((ln measured_i - ln modelled_i) / noise)
              + sum ((ln constant - ln prior) / spread)^2 / 2  +  sum (effect / spread of its level)^2 / 2

    by damped Gauss-Newton steps (Levenberg 1944, Marquardt 1963), t as in Student's distribution. Constants stay
    inside their bounds.
    """
    if not data.labels:
        return prior_image_fit()
    problem = _ImageProblem(data)
    solve = problem.solve_from_afar if start is None else problem.solve
    return problem.named(solve(problem.start(start or prior_image_fit()), rounds=rounds))


class _ImageProblem(RobustProblem):
    """The least-squares problem of one sample; its state is one vector: logarithms of constants, then effects."""

    noise, tail = NOISE, TAIL

    def __init__(self, data: ImageSample) -> None:
        import numpy as np

        self.data, self.constants = data, len(IMAGE_PARAMETERS)
        levels = [(name, name) for name in LEVEL_SPREAD] + [("host", "framework")]
        self.names = [
            (level, name)
            for level, label in levels
            for name in sorted({getattr(each, label) for each in data.labels})
        ]  # fmt: skip
        label_of = dict(levels)
        self.design = np.array(
            [[float(getattr(each, label_of[level]) == name) for level, name in self.names] for each in data.labels]
        )
        self.of_host = np.array([level == "host" for level, _ in self.names])
        self.of_device = np.array([level in ("chip", "accelerator") for level, _ in self.names])
        self.of_step = ~(self.of_host | self.of_device)
        self.centre = np.concatenate([np.log([each.prior for each in IMAGE_PARAMETERS]), np.zeros(len(self.names))])
        spreads = LEVEL_SPREAD | {"host": HOST_SPREAD}
        self.spread = np.array([each.spread for each in IMAGE_PARAMETERS] + [spreads[level] for level, _ in self.names])
        self.low = np.log([each.low for each in IMAGE_PARAMETERS])
        self.high = np.log([each.high for each in IMAGE_PARAMETERS])
        sources = [label.source for label in data.labels]
        self.weights = np.array([sources.count(source) ** SOURCE_POWER for source in sources])

    def start(self, fitted: Fit) -> Array:
        import numpy as np

        return np.array(
            [math.log(fitted.constants[each.name]) for each in IMAGE_PARAMETERS]
            + [fitted.effects[level].get(name, 0.0) for level, name in self.names]
        )

    def modelled(self, state: Array) -> Array:
        import numpy as np

        values = np.exp(state[: self.constants])
        constants = {each.name: float(value) for each, value in zip(IMAGE_PARAMETERS, values, strict=True)}
        effects = state[self.constants :]
        host, device = (np.exp(self.design[:, of] @ effects[of]) for of in (self.of_host, self.of_device))
        seconds = image_step(self.data.configs.scaled(host=host, device=device), constants).seconds
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
        for level in dict.fromkeys(level for level, _ in self.names):  # a row has one name of a level: all at once
            places = [place for place, (each, _) in enumerate(self.names) if each == level]
            whole = self.of_step[places[0]]
            moved = 1.0 if whole else column([self.constants + place for place in places])[:, None]
            parts[:, places] = moved * self.design[:, places]
        return np.hstack([np.stack(columns, axis=1), parts])

    def named(self, state: Array) -> Fit:
        effects: dict[str, dict[str, float]] = {level: {} for level in (*LEVEL_SPREAD, "host")}
        for (level, name), value in zip(self.names, state[self.constants :], strict=True):
            effects[level][name] = float(value)
        return Fit({each.name: math.exp(v) for each, v in zip(IMAGE_PARAMETERS, state, strict=False)}, effects)
