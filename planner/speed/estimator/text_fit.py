"""Fit of the physics of text networks to measurements: priors, robust errors, effects pooled over levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.speed.estimator.fit_sample import Fit, FitSample, PhysicsProblem, prior_fit, sample_of
from planner.speed.physics.config_arrays import GENERATIONS, Configs, from_rows
from planner.speed.physics.observation import of_each
from planner.speed.physics.parameters import INDEX, PARAMETERS
from planner.speed.physics.step import step

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Labels, Observation

LEVELS = ("chip", "accelerator", "framework", "source")
WHOLE_STEP = ("framework", "source")
"""Levels that affect the whole step. Chip and accelerator affect only the accelerator's own time, so that waiting for
links or the host is not faster on a better card."""
PARTS = ("host", "attention", "elementwise", "sharding")
"""Parts of a step that a framework affects. Mixtures of experts use other code of a framework than dense networks."""
OF_THE_STACK = ("host", "elementwise", "sharding")
"""Parts with an effect of the framework's stack, to which the effect of the framework is added. A framework without
evidence or name has the effect of its stack."""
LEVEL_SPREAD = {
    "chip": 0.08,
    "accelerator": 0.04,
    "framework": 0.05,
    "source": 0.35,
    "host": 0.20,
    "attention": 0.15,
    "elementwise": 0.15,
    "sharding": 0.40,
}
"""Standard deviations of logarithmic effects: of chip and accelerator on the accelerator's own time, of framework and
source on the whole step, and of a framework on launches, attention, element-wise passes and the gathering of sharded
weights."""
NOISE = 0.07
"""Standard deviation of the part of a measurement's error that the physics does not explain."""
TAIL = 4.0
"""Degrees of freedom of the errors (Student's t), so that a wrong row pulls little."""
SOURCE_POWER = -0.3
"""Exponent of a row's weight: each row of a source of n rows weighs n^-0.3, so that a large grid does not outvote
the rest."""
STEP = 1e-4
"""Change of a logarithm for numerical derivatives."""


TextSample = FitSample[Configs]
"""Measurements of text networks."""


def text_sample(observations: Sequence[Observation]) -> TextSample:
    """Return observations of text networks as a sample."""
    return sample_of(from_rows([observation.config for observation in observations]), observations)


def prior_text_fit() -> Fit:
    """Return the constants before any evidence, and no effects."""
    return prior_fit(PARAMETERS, tuple(LEVEL_SPREAD))


def model_text_step(fitted: Fit, configs: Configs, labels: Sequence[Labels]) -> tuple[Array, dict[str, Array]]:
    """Return ln of the modelled step seconds, with the effects of known labels, and the shares of the parts."""
    import numpy as np

    effects = fitted.effects
    added = of_each(labels, lambda label: sum(effects[level].get(getattr(label, level), 0.0) for level in WHOLE_STEP))
    modelled = step(with_label_effects(fitted, configs, labels), fitted.constants)
    return np.asarray(np.log(modelled.seconds) + added), modelled.shares


def with_label_effects(fitted: Fit, configs: Configs, labels: Sequence[Labels]) -> Configs:
    """Return the configurations scaled by the effects of their chip, accelerator and framework on parts of a step."""
    import numpy as np

    device = device_effect(fitted.effects, labels)
    mixture = configs.experts > 1
    return configs.replaced(
        device_scale=np.exp(device),
        **{f"{part}_scale": np.exp(_framework_effects(labels, mixture, fitted.effects[part])) for part in PARTS},
    )


def device_effect(effects: dict[str, dict[str, float]], labels: Sequence[Labels]) -> Array:
    """Return the logarithmic effect of chip and accelerator on the accelerator's own time.

    Older calibrations have no chips.
    """
    chips, accelerators = effects.get("chip", {}), effects["accelerator"]
    return of_each(labels, lambda label: chips.get(label.chip, 0.0) + accelerators.get(label.accelerator, 0.0))


def _framework_effects(labels: Sequence[Labels], mixture: Array, effects: dict[str, float]) -> Array:
    """Return the logarithmic effect of frameworks on one part. Older calibrations have no stacks."""
    import numpy as np

    dense = of_each(labels, lambda label: effects.get(label.framework, 0.0))
    mixed = of_each(labels, lambda label: effects.get(_code_of(label, mixture=True), effects.get(label.framework, 0.0)))
    return np.asarray(np.where(mixture, mixed, dense) + of_each(labels, lambda label: effects.get(label.stack, 0.0)))


def _code_of(label: Labels, *, mixture: bool) -> str:
    """Return the name of the code of a framework that trains mixtures or dense networks."""
    return f"{label.framework}, experts" if mixture else label.framework


def fit_text(data: TextSample, *, start: Fit | None = None, rounds: int = 30) -> Fit:
    """Find the most probable constants and effects.

    minimise  sum_i w_i t((ln measured_i - ln modelled_i - effects_i) / noise)
              + sum ((ln constant - ln prior) / spread)^2 / 2  +  sum (effect / spread of its level)^2 / 2

    by damped Gauss-Newton steps (Levenberg 1944, Marquardt 1963), t as in Student's distribution. Constants stay
    inside their bounds.
    """
    return TextProblem(data).most_probable(start, rounds) if data.labels else prior_text_fit()


class TextProblem(PhysicsProblem):
    """Fit of text networks. The effects of its state are those of frameworks on parts, then those of levels."""

    noise, tail = NOISE, TAIL

    def __init__(self, data: TextSample) -> None:
        import numpy as np

        self.data = data
        mixtures = [bool(experts > 1) for experts in data.configs.experts]
        code = [_code_of(label, mixture=mixture) for label, mixture in zip(data.labels, mixtures, strict=True)]
        stacks = {label.stack for label in data.labels}
        on_parts = [
            (part, name) for part in PARTS for name in sorted({*code, *(stacks if part in OF_THE_STACK else ())})
        ]
        on_levels = sorted({(level, getattr(label, level)) for label in data.labels for level in LEVELS})
        super().__init__(data, PARAMETERS, [*on_parts, *on_levels], LEVEL_SPREAD, source_power=SOURCE_POWER)
        part_column = {name: column for column, name in enumerate(on_parts)}
        level_column = {name: column for column, name in enumerate(on_levels)}
        of_framework = np.zeros((len(data.labels), len(on_parts)))
        self.design = np.zeros((len(data.labels), len(on_levels)))
        self.of_device = np.array([level not in WHOLE_STEP for level, _ in on_levels])
        for row, label in enumerate(data.labels):
            for part in PARTS:
                of_framework[row, part_column[part, code[row]]] = 1.0
            for part in OF_THE_STACK:
                of_framework[row, part_column[part, label.stack]] = 1.0
            for level in LEVELS:
                self.design[row, level_column[level, getattr(label, level)]] = 1.0
        self.level_at = {
            level: np.array([level_column[level, getattr(label, level)] for label in data.labels]) for level in LEVELS
        }
        self.part_at = {part: [column for column, (each, _) in enumerate(on_parts) if each == part] for part in PARTS}
        self.part_design = {part: of_framework[:, at] for part, at in self.part_at.items()}
        self.levels_at = self.constants + len(on_parts)
        self.moved_at_once = _moved_at_once(data.configs)

    def _with_effects(self, state: Array) -> Configs:
        """Return the configurations scaled by the effects of a state on parts of a step."""
        import numpy as np

        own = state[self.constants : self.levels_at]
        scales = {f"{part}_scale": np.exp(self.part_design[part] @ own[at]) for part, at in self.part_at.items()}
        device = sum(self._effect(level, state) for level in LEVELS if level not in WHOLE_STEP)
        return self.data.configs.replaced(device_scale=np.exp(device), **scales)

    def _effect(self, level: str, state: Array) -> Array:
        import numpy as np

        return np.take(state[self.levels_at :], self.level_at[level])

    def residual(self, state: Array) -> Array:
        """Return ln measured - ln modelled of each row."""
        import numpy as np

        whole = sum(self._effect(level, state) for level in WHOLE_STEP)
        modelled = step(self._with_effects(state), self.constants_of(state))
        return np.asarray(self.data.log_seconds - np.log(modelled.seconds) - whole)

    def jacobian(self, state: Array) -> Array:
        """Return the derivatives of ln modelled by each number of the state: rows x numbers."""
        import numpy as np

        configs = self._with_effects(state)
        modelled = step(configs, self.constants_of(state))
        base = np.log(modelled.seconds)
        columns = np.empty((len(base), self.constants))
        for places in self.moved_at_once:
            moved = state.copy()
            moved[list(places)] += STEP
            column = (np.log(step(configs, self.constants_of(moved)).seconds) - base) / STEP
            for place, rows in places.items():
                columns[:, place] = column * rows
        own = [modelled.shares[part][:, None] * design for part, design in self.part_design.items()]
        levels = np.where(self.of_device, modelled.device_share[:, None], 1.0) * self.design
        return np.hstack([columns, *own, levels])


def _moved_at_once(configs: Configs) -> list[dict[int, Array | float]]:
    """Return the constants that are moved together for their derivatives, each with the rows that it affects.

    A row has one generation, so the shares of all generations are moved at once. Each other constant is moved alone.
    """
    generation = {INDEX[f"gemm_{name}"]: configs.generation == number for number, name in enumerate(GENERATIONS)}
    return [generation, *({place: 1.0} for place in range(len(PARAMETERS)) if place not in generation)]
