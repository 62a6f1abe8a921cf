"""Measurements as a physics is fitted to them, and the solver of the robust least-squares problem."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Labels, Observation
    from planner.speed.physics.parameters import Parameter


DOUBLINGS = 3
"""Largest number of times that one step is doubled."""
CHORDS = 8
"""Largest number of cheap steps after each full one."""
ANNEALING = 4.0, 2.0
"""Multiples of the noise in the first two descents from afar."""
LARGEST_STEP = 0.7
"""Largest change of one number of the state in one step, in logarithms."""


class RobustProblem(ABC):
    """Problem whose state is a vector: logarithms of `constants` bounded constants, then effects.

    loss(state) = sum_i w_i t(residual_i / noise) + sum ((state - centre) / spread)^2 / 2, t as in Student's
    distribution with `tail` degrees of freedom.
    """

    noise: float
    tail: float
    constants: int
    weights: Array
    centre: Array
    spread: Array
    low: Array
    high: Array

    @abstractmethod
    def residual(self, state: Array) -> Array:
        """Return ln measured - ln modelled of each row."""

    @abstractmethod
    def jacobian(self, state: Array) -> Array:
        """Return the derivatives of ln modelled by each number of the state: rows x numbers."""

    def loss(self, state: Array) -> float:
        """Return the loss, which the solver minimizes."""
        import numpy as np

        errors = self.weights * (self.tail + 1) / 2 * np.log1p((self.residual(state) / self.noise) ** 2 / self.tail)
        return float(errors.sum() + 0.5 * (((state - self.centre) / self.spread) ** 2).sum())

    def solve(self, state: Array, *, rounds: int) -> Array:
        """Descend by damped Gauss-Newton steps (Levenberg 1944, Marquardt 1963) until the loss stops falling."""
        loss, damping = self.loss(state), 1e-3
        for _ in range(rounds):
            moved, new_loss, damping = self._improve(state, loss, damping)
            if not new_loss < loss:
                break
            gained, state, loss = loss - new_loss, moved, new_loss
            if gained < 1e-9 * abs(loss):
                break
        return state

    def solve_from_afar(self, state: Array, *, rounds: int) -> Array:
        """Descend from a distant state: first with several times the noise, which makes the loss nearly convex.

        With robust errors, there are local minima that treat distant rows as outliers.
        Source: Blake and Zisserman 1987, graduated non-convexity.
        """
        noise = self.noise
        try:
            for times in ANNEALING:
                self.noise = times * noise
                state = self.solve(state, rounds=max(1, rounds // 6))
        finally:
            self.noise = noise
        return self.solve(state, rounds=rounds)

    def _moved(self, state: Array, step: Array) -> tuple[Array, float]:
        """Return the state after a step, clipped to its bounds, and its loss."""
        import numpy as np

        moved = state + step
        moved[: self.constants] = np.clip(moved[: self.constants], self.low, self.high)
        return moved, self.loss(moved)

    def _longer(self, state: Array, step: Array, moved: Array, loss: float) -> tuple[Array, float]:
        """Double a step while the loss falls, because the weights of robust errors make steps too short."""
        for _ in range(DOUBLINGS):
            step = 2 * step
            further, new_loss = self._moved(state, step)
            if not new_loss < loss:
                break
            moved, loss = further, new_loss
        return moved, loss

    def _pulled(self, state: Array, jacobian: Array) -> tuple[Array, Array]:
        """Return the weight of each row under Student's errors, and the pull of rows and priors on the state."""
        residual = self.residual(state)
        trust = self.weights * (self.tail + 1) / (self.tail + (residual / self.noise) ** 2) / self.noise**2
        return trust, jacobian.T @ (trust * residual) + (self.centre - state) / self.spread**2

    def _improve(self, state: Array, loss: float, damping: float) -> tuple[Array, float, float]:
        """Take one step with a damping that grows until the loss falls."""
        import numpy as np

        jacobian = self.jacobian(state)
        trust, pull = self._pulled(state, jacobian)
        weighted = jacobian * np.sqrt(trust)[:, None]
        curvature = weighted.T @ weighted
        for _ in range(10):
            matrix = curvature + np.diag(1 / self.spread**2 + damping * np.diag(curvature))
            step = np.clip(np.linalg.solve(matrix, pull), -LARGEST_STEP, LARGEST_STEP)
            moved, new_loss = self._moved(state, step)
            if new_loss < loss:
                moved, new_loss = self._longer(state, step, moved, new_loss)
                return *self._with_reused_jacobian(moved, new_loss, jacobian, matrix), damping / 4
            damping *= 6
        return state, loss, damping

    def _with_reused_jacobian(self, state: Array, loss: float, jacobian: Array, matrix: Array) -> tuple[Array, float]:
        """Take more steps with the derivatives of the last one while the loss falls: they are the costly part.

        Source: the chord method, Ortega and Rheinboldt 1970, section 7.1.
        """
        import numpy as np

        inverse = np.linalg.inv(matrix)
        for _ in range(CHORDS):
            _, pull = self._pulled(state, jacobian)
            step = np.clip(inverse @ pull, -LARGEST_STEP, LARGEST_STEP)
            moved, new_loss = self._moved(state, step)
            if not new_loss < loss:
                break
            state, loss = self._longer(state, step, moved, new_loss)
        return state, loss


class StepConfigs(Protocol):
    """Arrays that describe many configurations of one physics."""

    def __len__(self) -> int:
        """Return the number of configurations."""

    def at(self, chosen: Array, /) -> Self:
        """Return the configurations at the places `chosen`."""

    @property
    def gpus(self) -> Array:
        """Number of accelerators of each training."""

    @property
    def nvlink_domain(self) -> Array:
        """Number of accelerators that reach each other over the fast link."""

    @property
    def units_per_step(self) -> Array:
        """Tokens or images that one optimizer step consumes."""


OfPhysics = TypeVar("OfPhysics", bound=StepConfigs)


@dataclass(frozen=True)
class FitSample(Generic[OfPhysics]):
    """Configurations, their labels, and ln of their measured step seconds."""

    configs: OfPhysics
    labels: tuple[Labels, ...]
    log_seconds: Array

    def at(self, keep: Array) -> FitSample[OfPhysics]:
        """Return the measurements that a mask or places select."""
        import numpy as np

        chosen = np.flatnonzero(keep) if keep.dtype == bool else keep
        labels = tuple(self.labels[int(place)] for place in chosen)
        return FitSample(self.configs.at(chosen), labels, self.log_seconds[chosen])


def sample_of(configs: OfPhysics, observations: Sequence[Observation]) -> FitSample[OfPhysics]:
    """Return observations as a sample.

    seconds of a step = tokens or images of a step / (tokens or images per second and accelerator x accelerators)
    """
    import numpy as np

    rates = np.array([observation.tokens_per_s_per_gpu for observation in observations])
    seconds = configs.units_per_step / (rates * configs.gpus)
    return FitSample(configs, tuple(observation.labels for observation in observations), np.log(seconds))


@dataclass(frozen=True)
class Fit:
    """Fitted constants, and the logarithmic effect of each label. An unknown label has no effect."""

    constants: dict[str, float]
    effects: dict[str, dict[str, float]]


def prior_fit(parameters: Sequence[Parameter], levels: Sequence[str]) -> Fit:
    """Return the constants before any evidence, and no effects."""
    return Fit({parameter.name: parameter.prior for parameter in parameters}, {level: {} for level in levels})


class PhysicsProblem(RobustProblem):
    """Least-squares problem of one sample. Its state is a vector: logarithms of the constants, then effects."""

    def __init__(
        self,
        sample: FitSample[Any],
        parameters: Sequence[Parameter],
        effects: Sequence[tuple[str, str]],
        spreads: Mapping[str, float],
        *,
        source_power: float,
    ) -> None:
        """Describe the problem.

        `effects` names level and label of each effect, and `spreads` gives the prior standard deviation of each level.
        A source of n rows weighs n^(1 + source_power) in total.
        """
        import numpy as np

        self.parameters, self.effects, self.levels = parameters, effects, tuple(spreads)
        self.constants = len(parameters)
        self.centre = np.concatenate([np.log([parameter.prior for parameter in parameters]), np.zeros(len(effects))])
        self.spread = np.array(
            [parameter.spread for parameter in parameters] + [spreads[level] for level, _ in effects]
        )
        self.low, self.high = (
            np.log([parameter.low for parameter in parameters]),
            np.log([parameter.high for parameter in parameters]),
        )
        rows = Counter(label.source for label in sample.labels)
        self.weights = np.array([rows[label.source] ** source_power for label in sample.labels])

    def most_probable(self, start: Fit | None, rounds: int) -> Fit:
        """Return the most probable fit, sought from a fit that is close or, without one, from the priors."""
        if start is None:
            prior = prior_fit(self.parameters, self.levels)
            return self.fit_of(self.solve_from_afar(self.state_of(prior), rounds=rounds))
        return self.fit_of(self.solve(self.state_of(start), rounds=rounds))

    def state_of(self, fit: Fit) -> Array:
        """Return a fit as a state."""
        import numpy as np

        return np.array(
            [math.log(fit.constants[parameter.name]) for parameter in self.parameters]
            + [fit.effects[level].get(name, 0.0) for level, name in self.effects]
        )

    def fit_of(self, state: Array) -> Fit:
        """Return a state as a fit."""
        effects: dict[str, dict[str, float]] = {level: {} for level in self.levels}
        for (level, name), value in zip(self.effects, state[self.constants :], strict=True):
            effects[level][name] = float(value)
        constants = {parameter.name: math.exp(value) for parameter, value in zip(self.parameters, state, strict=False)}
        return Fit(constants, effects)

    def constants_of(self, state: Array) -> dict[str, float]:
        """Return the constants of a state by name."""
        import numpy as np

        values = np.exp(state[: self.constants])
        return {parameter.name: float(value) for parameter, value in zip(self.parameters, values, strict=True)}
