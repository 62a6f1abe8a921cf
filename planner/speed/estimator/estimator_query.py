"""Question that an estimate answered: a configuration and the user's runs that corrected it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner.speed.physics.observation import Labels, Observation


@dataclass(frozen=True)
class EstimatorQuery:
    """Input of the estimator, kept so that its answer can be explained. The observation's unknown rate is set to 1."""

    observation: Observation
    own: tuple[Observation, ...]
    """User's runs that corrected the estimate."""

    @property
    def sample(self) -> Literal["tokens", "image"]:
        """Kind of sample that the network is trained on."""
        return self.observation.sample

    @property
    def label(self) -> Labels:
        """Labels that the configuration shares with other measurements."""
        return self.observation.labels
