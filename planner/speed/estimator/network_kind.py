"""Common interface to text networks and image networks: a physics with a calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from planner.speed.estimator.expected_error import KnownLabels
from planner.speed.estimator.image_fit import OF_IMAGES
from planner.speed.estimator.text_estimator import OF_TEXT, Physics
from planner.speed.physics.observation import Labels, Observation
from planner.speed.physics.part_formula import recorded_configs, recorded_constants

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.speed.estimator.estimates import Estimates, Modelled
    from planner.speed.estimator.fit_sample import Fit
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.step import Step


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


@dataclass(frozen=True)
class NetworkKind:
    """One kind of network with one calibration, which models and estimates observations of this kind."""

    physics: Physics[Any]
    calibration: Calibration

    def model(self, fit: Fit, rows: Sequence[Observation]) -> Modelled:
        """Model steps without own measurements."""
        return self.physics.modelled_rows(fit, rows, KnownLabels.of(self.calibration))

    def log_seconds(self, rows: Sequence[Observation]) -> Array:
        """Return ln of the measured step seconds."""
        return self.physics.sample(rows).log_seconds

    def size(self, row: Observation) -> tuple[float, float]:
        """Return the tokens or images of a step, and the accelerators."""
        configs = self.physics.configs([row])
        return float(configs.units_per_step[0]), float(configs.gpus[0])

    def estimate(self, rows: Sequence[Observation], own: Sequence[Observation]) -> Estimates:
        """Estimate measurements, corrected by own measurements."""
        return self.physics.estimate(
            self.physics.configs(rows), [row.labels for row in rows], self.calibration, own=own
        )

    def step(self, fit: Fit, rows: Sequence[Observation]) -> Step:
        """Compute steps from the constants alone, without the effects of accelerators and frameworks."""
        return self.physics.step(self.physics.configs(rows), fit.constants)

    def formula_seconds(self, fit: Fit, row: Observation) -> dict[str, Array]:
        """Return the seconds of each part, without the effects of the framework."""
        return self.physics.formula_seconds(self.physics.configs([row]), fit.constants)

    def recorded_parts(self, fit: Fit, row: Observation) -> dict[str, Array]:
        """Return the seconds of each part as numbers that remember how they were computed."""
        return self.physics.formula_seconds(*self._recorded(fit, self.physics.configs([row])))

    def recorded_step(self, fit: Fit, row: Observation) -> Array:
        """Return the step seconds as numbers that remember how they were computed, without effects on whole steps."""
        scaled = self.physics.with_effects(fit, self.physics.configs([row]), [row.labels])
        return self.physics.step(*self._recorded(fit, scaled)).seconds

    def _recorded(self, fit: Fit, configs: Any) -> tuple[Any, dict[str, Any]]:
        constants = recorded_constants(fit.constants, self.physics.parameters)
        return recorded_configs(configs, fit.constants), constants


def kind_of(query: EstimatorQuery, calibration: Calibration) -> NetworkKind:
    """Return the kind of network of a query."""
    return kind_of_sample(query.sample, calibration)


def kind_of_sample(sample: str | None, calibration: Calibration) -> NetworkKind:
    """Return the kind of network that trains on a sample: "image" or, for any other value, tokens."""
    return NetworkKind(OF_IMAGES if sample == "image" else OF_TEXT, calibration)
