"""Fits the physics to measurements: priors, robust errors, effects that are pooled over levels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.estimate.physics.configs import Configs, from_rows
from planner.estimate.physics.parameters import PARAMETERS
from planner.estimate.physics.step import step_seconds

if TYPE_CHECKING:
    import numpy as np

    from planner.estimate.measured_config import Labels, Observation
    from planner.estimate.physics.configs import Array

LEVELS = ("accelerator", "framework", "source")
LEVEL_SPREAD = {"accelerator": 0.06, "framework": 0.12, "source": 0.12}
"""Standard deviation of the logarithm of what one accelerator, framework or site adds to all of its step times."""
NOISE = 0.07
"""Of one measurement, after everything that the physics knows."""
TAIL = 4.0
"""Degrees of freedom of the errors: Student's t, so that a wrong row pulls little."""
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
            self.configs.at(chosen), tuple(self.labels[place] for place in chosen), self.log_seconds[chosen]
        )


def sample(observations: Sequence[Observation]) -> Sample:
    """Gather observations; seconds of a step = tokens of a step / (tokens/s per accelerator x accelerators)."""
    import numpy as np

    configs = from_rows([observation.config for observation in observations])
    rate = np.array([observation.tokens_per_s_per_gpu for observation in observations])
    seconds = configs.tokens_per_step / (rate * configs.gpus)
    return Sample(configs, tuple(observation.labels for observation in observations), np.log(seconds))


def prior_constants() -> dict[str, float]:
    """Return the constants before any evidence."""
    return {parameter.name: parameter.prior for parameter in PARAMETERS}


def fit(data: Sample, *, start: Fit | None = None, rounds: int = 25) -> Fit:
    """Find the most probable constants and effects.

    minimise  sum_i w_i t((ln measured_i - ln modelled_i - effects_i) / noise)  +  sum ((ln constant - ln prior) / spread)^2
              + sum (effect / spread of its level)^2

    by Gauss-Newton steps with damping; each source weighs with the square root of its number of rows, spread over them,
    so that a large grid does not outvote the rest. Constants stay inside their bounds.
    """
    import numpy as np

    priors = np.log([parameter.prior for parameter in PARAMETERS])
    spreads = np.array([parameter.spread for parameter in PARAMETERS])
    low = np.log([parameter.low for parameter in PARAMETERS])
    high = np.log([parameter.high for parameter in PARAMETERS])
    if not len(data.labels):
        return Fit(prior_constants(), {level: {} for level in LEVELS})
    design, names = _design(data.labels)
    level_spread = np.array([LEVEL_SPREAD[level] for level, _ in names])
    weights = _source_weights(data.labels)
    theta = priors.copy() if start is None else np.log([start.constants[p.name] for p in PARAMETERS])
    effects = np.zeros(len(names))
    if start is not None:
        effects = np.array([start.effects.get(level, {}).get(name, 0.0) for level, name in names])
    damping, model = 1e-3, _log_model(data.configs, theta)
    loss = _loss(data, model + design @ effects, weights, theta, effects, priors, spreads, level_spread)
    for _ in range(rounds):
        residual = data.log_seconds - model - design @ effects
        trust = weights * (TAIL + 1) / (TAIL + (residual / NOISE) ** 2)
        jacobian = np.hstack([_jacobian(data.configs, theta, model), design])
        scaled = jacobian * (trust / NOISE**2)[:, None]
        curvature = jacobian.T @ scaled
        gradient = scaled.T @ residual
        pull = np.concatenate([(priors - theta) / spreads**2, -effects / level_spread**2])
        stiffness = np.concatenate([1 / spreads**2, 1 / level_spread**2])
        improved = False
        for _ in range(8):
            matrix = curvature + np.diag(stiffness + damping * np.diag(curvature))
            move = np.linalg.solve(matrix, gradient + pull)
            new_theta = np.clip(theta + np.clip(move[: len(theta)], -0.7, 0.7), low, high)
            new_effects = effects + move[len(theta) :]
            new_model = _log_model(data.configs, new_theta)
            new_loss = _loss(
                data, new_model + design @ new_effects, weights, new_theta, new_effects, priors, spreads, level_spread
            )
            if new_loss < loss:
                improved = True
                break
            damping *= 6
        if not improved:
            break
        gained, damping = loss - new_loss, damping / 4
        theta, effects, model, loss = new_theta, new_effects, new_model, new_loss
        if gained < 1e-7 * abs(loss):
            break
    found: dict[str, dict[str, float]] = {level: {} for level in LEVELS}
    for (level, name), effect in zip(names, effects, strict=True):
        found[level][name] = float(effect)
    return Fit({p.name: float(math.exp(v)) for p, v in zip(PARAMETERS, theta, strict=True)}, found)


def log_effects(fitted: Fit, labels: Sequence[Labels]) -> Array:
    """Return the sum of the effects of each measurement's labels."""
    import numpy as np

    return np.array(
        [sum(fitted.effects[level].get(getattr(label, level), 0.0) for level in LEVELS) for label in labels]
    )


def log_seconds(fitted: Fit, configs: Configs) -> Array:
    """Return the logarithm of the modelled step seconds, without effects."""
    import numpy as np

    return np.log(step_seconds(configs, fitted.constants))


def _log_model(configs: Configs, theta: Array) -> Array:
    import numpy as np

    values = {p.name: float(v) for p, v in zip(PARAMETERS, np.exp(theta), strict=True)}
    return np.log(step_seconds(configs, values))


def _jacobian(configs: Configs, theta: Array, model: Array) -> Array:
    import numpy as np

    columns = []
    for place in range(len(theta)):
        moved = theta.copy()
        moved[place] += STEP
        columns.append((_log_model(configs, moved) - model) / STEP)
    return np.stack(columns, axis=1)


def _design(labels: Sequence[Labels]) -> tuple[Array, list[tuple[str, str]]]:
    import numpy as np

    names = sorted({(level, getattr(label, level)) for label in labels for level in LEVELS})
    place = {name: column for column, name in enumerate(names)}
    design = np.zeros((len(labels), len(names)))
    for row, label in enumerate(labels):
        for level in LEVELS:
            design[row, place[level, getattr(label, level)]] = 1.0
    return design, names


def _source_weights(labels: Sequence[Labels]) -> Array:
    import numpy as np

    counts: dict[str, int] = {}
    for label in labels:
        counts[label.source] = counts.get(label.source, 0) + 1
    return np.array([counts[label.source] ** -0.4 for label in labels])


def _loss(
    data: Sample,
    model: Array,
    weights: Array,
    theta: Array,
    effects: Array,
    priors: Array,
    spreads: Array,
    level_spread: Array,
) -> float:
    import numpy as np

    residual = (data.log_seconds - model) / NOISE
    fit_loss = (weights * (TAIL + 1) / 2 * np.log1p(residual**2 / TAIL)).sum()
    return float(
        fit_loss + 0.5 * (((theta - priors) / spreads) ** 2).sum() + 0.5 * ((effects / level_spread) ** 2).sum()
    )


__all__ = ["Fit", "Sample", "fit", "log_effects", "log_seconds", "prior_constants", "sample"]
_ = (Callable, Mapping)
