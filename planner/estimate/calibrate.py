"""Fits the physics to measurements: priors, robust errors, effects that are pooled over levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.estimate.measured_config import of_each
from planner.estimate.physics.configs import Configs, from_rows
from planner.estimate.physics.parameters import INDEX, PARAMETERS
from planner.estimate.physics.step import step, step_seconds

if TYPE_CHECKING:
    from planner.estimate.measured_config import Labels, Observation
    from planner.estimate.physics.configs import Array

LEVELS = ("accelerator", "framework", "source")
LEVEL_SPREAD = {"accelerator": 0.06, "framework": 0.12, "source": 0.12, "host": 0.45}
"""Standard deviation of the logarithm of what one accelerator, framework or site adds to all of its step times; and
of a framework's time to launch a kernel (`host`)."""
NOISE = 0.07
"""Of one measurement, after everything that the physics knows."""
TAIL = 4.0
"""Degrees of freedom of the errors: Student's t, so that a wrong row pulls little."""
SOURCE_POWER = -0.4
"""A source of n rows weighs n^0.6 and not n: a large grid does not outvote the rest."""
STEP = 1e-4
"""Of a logarithm, for derivatives."""


@dataclass(frozen=True)
class Fit:
    """Fitted constants, and the logarithmic effect of each label; an unknown label has none."""

    constants: dict[str, float]
    effects: dict[str, dict[str, float]]


@dataclass(frozen=True)
class Sample:
    """Measurements in the form in which they are fitted."""

    configs: Configs
    labels: tuple[Labels, ...]
    log_seconds: Array

    def at(self, keep: Array) -> Sample:
        """Return some of the measurements."""
        import numpy as np

        chosen = np.flatnonzero(keep) if keep.dtype == bool else keep
        return Sample(
            self.configs.at(chosen), tuple(self.labels[int(place)] for place in chosen), self.log_seconds[chosen]
        )


def sample(observations: Sequence[Observation]) -> Sample:
    """Gather observations; seconds of a step = tokens of a step / (tokens/s per accelerator x accelerators)."""
    import numpy as np

    configs = from_rows([observation.config for observation in observations])
    rate = np.array([observation.tokens_per_s_per_gpu for observation in observations])
    seconds = configs.tokens_per_step / (rate * configs.gpus)
    return Sample(configs, tuple(observation.labels for observation in observations), np.log(seconds))


def prior_fit() -> Fit:
    """Return the constants before any evidence, and no effects."""
    return Fit({parameter.name: parameter.prior for parameter in PARAMETERS}, {level: {} for level in LEVEL_SPREAD})


def model_step(fitted: Fit, configs: Configs, labels: Sequence[Labels]) -> tuple[Array, dict[str, Array]]:
    """Return the logarithm of the modelled step seconds, with the effects of known labels, and the parts' shares."""
    import numpy as np

    effects = fitted.effects
    host = of_each(labels, lambda label: effects["host"].get(label.framework, 0.0))
    added = of_each(labels, lambda label: sum(effects[level].get(getattr(label, level), 0.0) for level in LEVELS))
    launched = configs.replaced(host_scale=configs.host_scale * np.exp(host))
    found = step(launched, fitted.constants)
    return np.asarray(np.log(found.seconds) + added), found.shares


def fit(data: Sample, *, start: Fit | None = None, rounds: int = 30) -> Fit:
    """Find the most probable constants and effects.

    minimise  sum_i w_i t((ln measured_i - ln modelled_i - effects_i) / noise)
              + sum ((ln constant - ln prior) / spread)^2 / 2  +  sum (effect / spread of its level)^2 / 2

    by damped Gauss-Newton steps (Levenberg 1944, Marquardt 1963), t as in Student's distribution. Constants stay
    inside their bounds.
    """
    if not data.labels:
        return prior_fit()
    problem = _Problem(data)
    state = problem.start(start or prior_fit())
    loss, damping = problem.loss(state), 1e-3
    for _ in range(rounds):
        moved, new_loss, damping = problem.improve(state, loss, damping)
        if new_loss >= loss:
            break
        gained, state, loss = loss - new_loss, moved, new_loss
        if gained < 1e-9 * abs(loss):
            break
    return problem.named(state)


class _Problem:
    """The least-squares problem of one sample; its state is one vector: constants, launch effects, effects."""

    def __init__(self, data: Sample) -> None:
        import numpy as np

        self.data = data
        self.constants = len(PARAMETERS)
        self.frameworks = sorted({label.framework for label in data.labels})
        self.names = sorted({(level, getattr(label, level)) for label in data.labels for level in LEVELS})
        self.of_framework = np.zeros((len(data.labels), len(self.frameworks)))
        self.design = np.zeros((len(data.labels), len(self.names)))
        place = {name: column for column, name in enumerate(self.names)}
        for row, label in enumerate(data.labels):
            self.of_framework[row, self.frameworks.index(label.framework)] = 1.0
            for level in LEVELS:
                self.design[row, place[level, getattr(label, level)]] = 1.0
        self.centre = np.concatenate(
            [np.log([p.prior for p in PARAMETERS]), np.zeros(len(self.frameworks) + len(self.names))]
        )
        self.spread = np.array(
            [p.spread for p in PARAMETERS]
            + [LEVEL_SPREAD["host"]] * len(self.frameworks)
            + [LEVEL_SPREAD[level] for level, _ in self.names]
        )
        self.low, self.high = np.log([p.low for p in PARAMETERS]), np.log([p.high for p in PARAMETERS])
        counts: dict[str, int] = {}
        for label in data.labels:
            counts[label.source] = counts.get(label.source, 0) + 1
        self.weights = np.array([counts[label.source] ** SOURCE_POWER for label in data.labels])

    def start(self, found: Fit) -> Array:
        import numpy as np

        return np.array(
            [math.log(found.constants[p.name]) for p in PARAMETERS]
            + [found.effects["host"].get(name, 0.0) for name in self.frameworks]
            + [found.effects[level].get(name, 0.0) for level, name in self.names]
        )

    def physics(self, state: Array) -> Array:
        """Log seconds of the physics alone."""
        import numpy as np

        values = {p.name: float(v) for p, v in zip(PARAMETERS, np.exp(state[: self.constants]), strict=True)}
        host = self.of_framework @ state[self.constants : self.constants + len(self.frameworks)]
        configs = self.data.configs.replaced(host_scale=np.exp(host))
        return np.log(step_seconds(configs, values))

    def residual(self, state: Array) -> Array:
        return (
            self.data.log_seconds - self.physics(state) - self.design @ state[self.constants + len(self.frameworks) :]
        )

    def loss(self, state: Array) -> float:
        import numpy as np

        errors = self.weights * (TAIL + 1) / 2 * np.log1p((self.residual(state) / NOISE) ** 2 / TAIL)
        return float(errors.sum() + 0.5 * (((state - self.centre) / self.spread) ** 2).sum())

    def improve(self, state: Array, loss: float, damping: float) -> tuple[Array, float, float]:
        """Take one step; the damping grows until the loss falls."""
        import numpy as np

        residual = self.residual(state)
        trust = self.weights * (TAIL + 1) / (TAIL + (residual / NOISE) ** 2) / NOISE**2
        jacobian = self._jacobian(state)
        curvature = jacobian.T @ (jacobian * trust[:, None])
        pull = jacobian.T @ (trust * residual) + (self.centre - state) / self.spread**2
        for _ in range(10):
            matrix = curvature + np.diag(1 / self.spread**2 + damping * np.diag(curvature))
            moved = state + np.clip(np.linalg.solve(matrix, pull), -0.7, 0.7)
            moved[: self.constants] = np.clip(moved[: self.constants], self.low, self.high)
            new_loss = self.loss(moved)
            if new_loss < loss:
                return moved, new_loss, damping / 4
            damping *= 6
        return state, loss, damping

    def _jacobian(self, state: Array) -> Array:
        import numpy as np

        base = self.physics(state)
        columns = []
        for place in range(self.constants):
            moved = state.copy()
            moved[place] += STEP
            columns.append((self.physics(moved) - base) / STEP)
        launches = columns[INDEX["host_us"]][:, None] * self.of_framework
        return np.hstack([np.stack(columns, axis=1), launches, self.design])

    def named(self, state: Array) -> Fit:
        effects: dict[str, dict[str, float]] = {level: {} for level in LEVEL_SPREAD}
        for name, value in zip(self.frameworks, state[self.constants :], strict=False):
            effects["host"][name] = float(value)
        for (level, name), value in zip(self.names, state[self.constants + len(self.frameworks) :], strict=True):
            effects[level][name] = float(value)
        constants = {p.name: math.exp(v) for p, v in zip(PARAMETERS, state, strict=False)}
        return Fit(constants, effects)
