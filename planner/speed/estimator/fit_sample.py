"""Measurements as a physics is fitted to them, the result of a fit, and the problem that text and images share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from planner.speed.estimator.robust_fit import RobustProblem

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Labels, Observation
    from planner.speed.physics.parameters import Parameter


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
        self.centre = np.concatenate([np.log([each.prior for each in parameters]), np.zeros(len(effects))])
        self.spread = np.array([each.spread for each in parameters] + [spreads[level] for level, _ in effects])
        self.low, self.high = np.log([each.low for each in parameters]), np.log([each.high for each in parameters])
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
            [math.log(fit.constants[each.name]) for each in self.parameters]
            + [fit.effects[level].get(name, 0.0) for level, name in self.effects]
        )

    def fit_of(self, state: Array) -> Fit:
        """Return a state as a fit."""
        effects: dict[str, dict[str, float]] = {level: {} for level in self.levels}
        for (level, name), value in zip(self.effects, state[self.constants :], strict=True):
            effects[level][name] = float(value)
        constants = {each.name: math.exp(value) for each, value in zip(self.parameters, state, strict=False)}
        return Fit(constants, effects)

    def constants_of(self, state: Array) -> dict[str, float]:
        """Return the constants of a state by name."""
        import numpy as np

        values = np.exp(state[: self.constants])
        return {each.name: float(value) for each, value in zip(self.parameters, values, strict=True)}
