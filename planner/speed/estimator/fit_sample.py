"""Measurements in the form in which a physics is fitted to them, whatever their networks are trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Labels, Observation


class StepConfigs(Protocol):
    """Many configurations at once, of one physics."""

    def __len__(self) -> int:
        """How many there are."""

    def at(self, chosen: Array, /) -> Self:
        """Return those at some places."""

    @property
    def gpus(self) -> Array:
        """All accelerators of each training."""

    @property
    def nvlink_domain(self) -> Array:
        """Accelerators that reach each other over the fast link."""

    @property
    def units_per_step(self) -> Array:
        """Tokens or images that one optimizer step of each consumes."""


OfPhysics = TypeVar("OfPhysics", bound=StepConfigs)


@dataclass(frozen=True)
class FitSample(Generic[OfPhysics]):
    """Configurations, their labels, and what was measured of each."""

    configs: OfPhysics
    labels: tuple[Labels, ...]
    log_seconds: Array

    def at(self, keep: Array) -> FitSample[OfPhysics]:
        """Return some of the measurements, by a mask or by their places."""
        import numpy as np

        chosen = np.flatnonzero(keep) if keep.dtype == bool else keep
        labels = tuple(self.labels[int(place)] for place in chosen)
        return FitSample(self.configs.at(chosen), labels, self.log_seconds[chosen])


def sample_of(configs: OfPhysics, observations: Sequence[Observation]) -> FitSample[OfPhysics]:
    """Return observations in their physics' terms.

    seconds of a step = tokens or images of a step / (those per second and accelerator x accelerators)
    """
    import numpy as np

    rate = np.array([one.tokens_per_s_per_gpu for one in observations])
    seconds = configs.units_per_step / (rate * configs.gpus)
    return FitSample(configs, tuple(one.labels for one in observations), np.log(seconds))
