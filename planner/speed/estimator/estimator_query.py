"""The question that an estimate answered: a configuration and the user's runs that corrected it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner.speed.physics.observation import Labels, Observation


@dataclass(frozen=True)
class EstimatorQuery:
    """What the estimator was asked, for whoever explains its answer; its rate is not known, so it is 1."""

    observation: Observation
    own: tuple[Observation, ...]
    """The user's runs that corrected it."""

    @property
    def sample(self) -> Literal["tokens", "image"]:
        """What the network is trained on."""
        return self.observation.sample

    @property
    def label(self) -> Labels:
        """What it shares with others."""
        return self.observation.labels
