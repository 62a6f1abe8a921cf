"""The fit of the physics of text networks to measurements: priors, robust errors, effects pooled over levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.speed.estimator.fit_sample import FitSample, sample_of
from planner.speed.estimator.robust_fit import RobustProblem
from planner.speed.physics.config_arrays import GENERATIONS, Configs, from_rows
from planner.speed.physics.observation import of_each
from planner.speed.physics.parameters import INDEX, PARAMETERS
from planner.speed.physics.step import Step, step

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Labels, Observation

LEVELS = ("chip", "accelerator", "framework", "source")
WHOLE_STEP = ("framework", "source")
"""Levels whose effect is on all of a step; those of a chip and of an accelerator are on its own time alone, so that
what waits for links or the host is no faster on a better card."""
PARTS = ("host", "attention", "elementwise", "sharding")
"""Parts of a step whose speed is a framework's own; those of mixtures of experts are other code than those of dense
networks."""
OF_THE_STACK = ("host", "elementwise", "sharding")
"""Those of them whose effect is of all frameworks of a stack first, and of one of them by what it differs from it: a
framework without evidence, or without a name, is as the mean of its stack."""
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
"""Standard deviation of the logarithm of what a chip and an accelerator with it add to its own time, a framework or
site to all of its step times; and of a framework's time for launches, attention, element-wise passes and the gathering
of sharded weights."""
NOISE = 0.07
"""Of one measurement, after everything that the physics knows."""
TAIL = 4.0
"""Degrees of freedom of the errors: Student's t, so that a wrong row pulls little."""
SOURCE_POWER = -0.3
"""A source of n rows weighs n^0.7 and not n: a large grid does not outvote the rest."""
STEP = 1e-4
"""Of a logarithm, for derivatives."""


@dataclass(frozen=True)
class Fit:
    """Fitted constants, and the logarithmic effect of each label; an unknown label has none."""

    constants: dict[str, float]
    effects: dict[str, dict[str, float]]


TextSample = FitSample[Configs]
"""Measurements of text networks."""


def text_sample(observations: Sequence[Observation]) -> TextSample:
    """Gather observations."""
    return sample_of(from_rows([one.config for one in observations]), observations)


def prior_text_fit() -> Fit:
    """Return the constants before any evidence, and no effects."""
    return Fit({parameter.name: parameter.prior for parameter in PARAMETERS}, {level: {} for level in LEVEL_SPREAD})


def model_text_step(fitted: Fit, configs: Configs, labels: Sequence[Labels]) -> tuple[Array, dict[str, Array]]:
    """Return the logarithm of the modelled step seconds, with the effects of known labels, and the parts' shares."""
    import numpy as np

    effects = fitted.effects
    added = of_each(labels, lambda label: sum(effects[level].get(getattr(label, level), 0.0) for level in WHOLE_STEP))
    modelled = step(with_label_effects(fitted, configs, labels), fitted.constants)
    return np.asarray(np.log(modelled.seconds) + added), modelled.shares


def with_label_effects(fitted: Fit, configs: Configs, labels: Sequence[Labels]) -> Configs:
    """Return configurations with the effects of their chip, accelerator and framework on parts of a step."""
    import numpy as np

    device = device_effect(fitted.effects, labels)
    mixture = configs.experts > 1
    return configs.replaced(
        device_scale=np.exp(device),
        **{f"{part}_scale": np.exp(_of_framework(labels, mixture, fitted.effects[part])) for part in PARTS},
    )


def device_effect(effects: dict[str, dict[str, float]], labels: Sequence[Labels]) -> Array:
    """Return the logarithmic effect of chip and accelerator on its own work; older calibrations know no chips."""
    chips: dict[str, float] = effects.get("chip", {})
    accelerators = effects["accelerator"]

    def both(label: Labels) -> float:
        return chips.get(label.chip, 0.0) + accelerators.get(label.accelerator, 0.0)

    return of_each(labels, both)


def _of_framework(labels: Sequence[Labels], mixture: Array, effects: dict[str, float]) -> Array:
    """Return the logarithmic effect on one part; older calibrations know no stacks."""
    import numpy as np

    dense = of_each(labels, lambda label: effects.get(label.framework, 0.0))
    mixed = of_each(labels, lambda label: effects.get(_code_of(label, mixture=True), effects.get(label.framework, 0.0)))
    return np.asarray(np.where(mixture, mixed, dense) + of_each(labels, lambda label: effects.get(label.stack, 0.0)))


def _code_of(label: Labels, *, mixture: bool) -> str:
    """Name the part of a framework that trains such a network; without evidence mixtures count as the rest of it."""
    return f"{label.framework}, experts" if mixture else label.framework


def fit_text(data: TextSample, *, start: Fit | None = None, rounds: int = 30) -> Fit:
    """Find the most probable constants and effects.

    minimise  sum_i w_i t((ln measured_i - ln modelled_i - effects_i) / noise)
              + sum ((ln constant - ln prior) / spread)^2 / 2  +  sum (effect / spread of its level)^2 / 2

    by damped Gauss-Newton steps (Levenberg 1944, Marquardt 1963), t as in Student's distribution. Constants stay
    inside their bounds.
    """
    if not data.labels:
        return prior_text_fit()
    problem = _Problem(data)
    solve = problem.solve_from_afar if start is None else problem.solve
    return problem.named(solve(problem.start(start or prior_text_fit()), rounds=rounds))


class _Problem(RobustProblem):
    """The least-squares problem of one sample; its state is one vector: constants, own parts of frameworks, effects."""

    noise, tail = NOISE, TAIL

    def __init__(self, data: TextSample) -> None:
        import numpy as np

        self.data = data
        self.constants = len(PARAMETERS)
        mixture = [bool(experts > 1) for experts in data.configs.experts]
        code = [_code_of(label, mixture=one) for label, one in zip(data.labels, mixture, strict=True)]
        stacks = {label.stack for label in data.labels}
        self.own = [
            (part, name) for part in PARTS for name in sorted({*code, *(stacks if part in OF_THE_STACK else ())})
        ]
        self.names = sorted({(level, getattr(label, level)) for label in data.labels for level in LEVELS})
        own_at = {name: column for column, name in enumerate(self.own)}
        of_framework = np.zeros((len(data.labels), len(self.own)))
        self.design = np.zeros((len(data.labels), len(self.names)))
        place = {name: column for column, name in enumerate(self.names)}
        self.of_device = np.array([level not in WHOLE_STEP for level, _ in self.names])
        for row, label in enumerate(data.labels):
            for part in PARTS:
                of_framework[row, own_at[part, code[row]]] = 1.0
            for part in OF_THE_STACK:
                of_framework[row, own_at[part, label.stack]] = 1.0
            for level in LEVELS:
                self.design[row, place[level, getattr(label, level)]] = 1.0
        self.level_at = {
            level: np.array([place[level, getattr(label, level)] for label in data.labels]) for level in LEVELS
        }
        self.part_at = {part: [column for column, (each, _) in enumerate(self.own) if each == part] for part in PARTS}
        self.part_design = {part: of_framework[:, at] for part, at in self.part_at.items()}
        self.effects_at = self.constants + len(self.own)
        effects = len(self.own) + len(self.names)
        self.centre = np.concatenate([np.log([p.prior for p in PARAMETERS]), np.zeros(effects)])
        self.spread = np.array(
            [p.spread for p in PARAMETERS] + [LEVEL_SPREAD[level] for level, _ in (*self.own, *self.names)]
        )
        self.moved_at_once = _moved_at_once(data.configs)
        self.low, self.high = np.log([p.low for p in PARAMETERS]), np.log([p.high for p in PARAMETERS])
        counts: dict[str, int] = {}
        for label in data.labels:
            counts[label.source] = counts.get(label.source, 0) + 1
        self.weights = np.array([counts[label.source] ** SOURCE_POWER for label in data.labels])

    def start(self, fitted: Fit) -> Array:
        import numpy as np

        return np.array(
            [math.log(fitted.constants[p.name]) for p in PARAMETERS]
            + [fitted.effects[level].get(name, 0.0) for level, name in (*self.own, *self.names)]
        )

    def step(self, state: Array) -> Step:
        """Step by the physics, with what accelerators and frameworks have of their own."""
        return step(self._with_effects(state), self._constants(state))

    def _constants(self, state: Array) -> dict[str, float]:
        import numpy as np

        return {p.name: float(v) for p, v in zip(PARAMETERS, np.exp(state[: self.constants]), strict=True)}

    def _with_effects(self, state: Array) -> Configs:
        import numpy as np

        own = state[self.constants : self.effects_at]
        scales = {f"{part}_scale": np.exp(self.part_design[part] @ own[at]) for part, at in self.part_at.items()}
        device = sum(self._effect(level, state) for level in LEVELS if level not in WHOLE_STEP)
        return self.data.configs.replaced(device_scale=np.exp(device), **scales)

    def _effect(self, level: str, state: Array) -> Array:
        import numpy as np

        return np.take(state[self.effects_at :], self.level_at[level])

    def residual(self, state: Array) -> Array:
        import numpy as np

        whole = sum(self._effect(level, state) for level in WHOLE_STEP)
        return np.asarray(self.data.log_seconds - np.log(self.step(state).seconds) - whole)

    def jacobian(self, state: Array) -> Array:
        import numpy as np

        configs = self._with_effects(state)
        modelled = step(configs, self._constants(state))
        base = np.log(modelled.seconds)
        columns = np.empty((len(base), self.constants))
        for places in self.moved_at_once:
            moved = state.copy()
            moved[list(places)] += STEP
            column = (np.log(step(configs, self._constants(moved)).seconds) - base) / STEP
            for place, rows in places.items():
                columns[:, place] = column * rows
        own = [modelled.shares[part][:, None] * design for part, design in self.part_design.items()]
        levels = np.where(self.of_device, modelled.device_share[:, None], 1.0) * self.design
        return np.hstack([columns, *own, levels])

    def named(self, state: Array) -> Fit:
        effects: dict[str, dict[str, float]] = {level: {} for level in LEVEL_SPREAD}
        for (level, name), value in zip((*self.own, *self.names), state[self.constants :], strict=True):
            effects[level][name] = float(value)
        constants = {p.name: math.exp(v) for p, v in zip(PARAMETERS, state, strict=False)}
        return Fit(constants, effects)


def _moved_at_once(configs: Configs) -> list[dict[int, Array | float]]:
    """Return which constants are moved together for their derivatives, each with the rows that it moves.

    A row has one generation, so the shares of all generations are moved at once; each other constant by itself.
    """
    generation = {INDEX[f"gemm_{name}"]: configs.generation == number for number, name in enumerate(GENERATIONS)}
    return [generation, *({place: 1.0} for place in range(len(PARAMETERS)) if place not in generation)]
