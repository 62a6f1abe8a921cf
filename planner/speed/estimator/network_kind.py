"""Common interface to text networks and image networks: how each kind is described, modelled and estimated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from planner.speed.physics import communication, compute
from planner.speed.physics import image_step as image_physics
from planner.speed.physics import step as text_physics
from planner.speed.physics.observation import Labels, Observation
from planner.speed.physics.part_formula import places_of, recorded_configs, recorded_constants

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.speed.estimator.fit_sample import Fit
    from planner.speed.estimator.text_estimator import Estimates, Modelled
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.parameters import Parameter
    from planner.speed.physics.step import Step

TEXT_PLACES = places_of(compute, communication, text_physics)
IMAGE_PLACES = places_of(image_physics)
"""File and function that compute each part of a step, as `planner explain` shows them."""


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
    """Functions that describe, model and estimate one kind of network with one calibration."""

    name: str
    """Name of the estimator."""
    unit: Literal["tokens", "images"]
    """Unit of the samples."""
    parameters: Sequence[Parameter]
    places: dict[str, str]
    """File and function that compute each part."""
    model: Callable[[Fit, Sequence[Observation]], Modelled]
    """Model steps without own measurements."""
    log_seconds: Callable[[Sequence[Observation]], Array]
    """Return ln of the measured step seconds."""
    size: Callable[[Observation], tuple[float, float]]
    """Return the tokens or images of a step, and the accelerators."""
    each: Callable[[Observation], str]
    """Return the work of one image in words, or "" for tokens."""
    step: Callable[[Fit, Sequence[Observation]], Step]
    """Compute steps from the constants alone, without the effects of accelerators and frameworks."""
    estimate: Callable[[Sequence[Observation], Sequence[Observation]], Estimates]
    """Estimate measurements, corrected by own measurements."""
    formula_seconds: Callable[[Fit, Observation], dict[str, Array]]
    """Return the seconds of each part, without the effects of the framework."""
    recorded_parts: Callable[[Fit, Observation], dict[str, Array]]
    """Return the seconds of each part as numbers that remember how they were computed."""
    recorded_step: Callable[[Fit, Observation], Array]
    """Return the step seconds as numbers that remember how they were computed, without the effects on whole steps."""


def kind_of(query: EstimatorQuery, calibration: Calibration) -> NetworkKind:
    """Return the kind of network of a query."""
    return kind_of_sample(query.sample, calibration)


def kind_of_sample(sample: str | None, calibration: Calibration) -> NetworkKind:
    """Return the kind of network that trains on a sample: "image" or, for any other value, tokens."""
    return kind_of_images(calibration) if sample == "image" else kind_of_text(calibration)


def kind_of_text(calibration: Calibration) -> NetworkKind:
    """Return the functions of text networks with a calibration."""
    from planner.speed.estimator.expected_error import KnownLabels
    from planner.speed.estimator.text_estimator import estimate_text, model_rows
    from planner.speed.estimator.text_fit import text_sample, with_label_effects
    from planner.speed.physics.config_arrays import from_rows
    from planner.speed.physics.parameters import PARAMETERS
    from planner.speed.physics.step import formula_seconds, step, step_seconds

    known = KnownLabels.of(calibration)

    def model(fit: Fit, rows: Sequence[Observation]) -> Modelled:
        return model_rows(fit, rows, known)

    def size(row: Observation) -> tuple[float, float]:
        configs = from_rows([row.config])
        return float(configs.tokens_per_step[0]), float(configs.gpus[0])

    def estimate(rows: Sequence[Observation], own: Sequence[Observation]) -> Estimates:
        configs, labels = from_rows([row.config for row in rows]), [row.labels for row in rows]
        return estimate_text(configs, labels, calibration, own=own)

    def by_formula(fit: Fit, row: Observation) -> dict[str, Array]:
        return formula_seconds(from_rows([row.config]), fit.constants)

    def recorded_parts(fit: Fit, row: Observation) -> dict[str, Array]:
        configs = recorded_configs(from_rows([row.config]), fit.constants)
        return formula_seconds(configs, recorded_constants(fit.constants, PARAMETERS))

    def recorded_step(fit: Fit, row: Observation) -> Array:
        configs = with_label_effects(fit, from_rows([row.config]), [row.labels])
        return step_seconds(recorded_configs(configs, fit.constants), recorded_constants(fit.constants, PARAMETERS))

    return NetworkKind(
        name="estimator",
        unit="tokens",
        parameters=PARAMETERS,
        places=TEXT_PLACES,
        model=model,
        log_seconds=lambda rows: text_sample(rows).log_seconds,
        size=size,
        each=lambda _: "",
        step=lambda fit, rows: step(from_rows([row.config for row in rows]), fit.constants),
        estimate=estimate,
        formula_seconds=by_formula,
        recorded_parts=recorded_parts,
        recorded_step=recorded_step,
    )


def kind_of_images(calibration: Calibration) -> NetworkKind:
    """Return the functions of image networks with a calibration."""
    from planner.speed.estimator.expected_error import KnownLabels
    from planner.speed.estimator.image_fit import estimate_images, image_sample, model_images, with_image_effects
    from planner.speed.physics.image_config_arrays import gather
    from planner.speed.physics.image_step import counted_bytes, image_formula_seconds, image_step
    from planner.speed.physics.parameters import IMAGE_PARAMETERS

    known = KnownLabels.of(calibration)

    def model(fit: Fit, rows: Sequence[Observation]) -> Modelled:
        configs = gather([row.described for row in rows])
        return model_images(fit, configs, [row.labels for row in rows], known)

    def size(row: Observation) -> tuple[float, float]:
        configs = gather([row.described])
        return float(configs.images_per_step[0]), float(configs.gpus[0])

    def estimate(rows: Sequence[Observation], own: Sequence[Observation]) -> Estimates:
        configs = gather([row.described for row in rows])
        return estimate_images(configs, [row.labels for row in rows], calibration, own=own)

    def log_seconds(rows: Sequence[Observation]) -> Array:
        return image_sample(rows).log_seconds

    def by_formula(fit: Fit, row: Observation) -> dict[str, Array]:
        return image_formula_seconds(gather([row.described]), fit.constants)

    def recorded_parts(fit: Fit, row: Observation) -> dict[str, Array]:
        configs = recorded_configs(gather([row.described]), fit.constants)
        return image_formula_seconds(configs, recorded_constants(fit.constants, IMAGE_PARAMETERS))

    def recorded_step(fit: Fit, row: Observation) -> Array:
        configs = with_image_effects(fit, gather([row.described]), [row.labels])
        return image_step(
            recorded_configs(configs, fit.constants), recorded_constants(fit.constants, IMAGE_PARAMETERS)
        ).seconds

    def each(row: Observation) -> str:
        traffic = float(counted_bytes(gather([row.described]))[0])
        return f", each {row.config['flops'] / 1e9:.5g} GFLOP and {traffic / 1e6:.4g} MB of traffic,"

    return NetworkKind(
        name="estimator of images",
        unit="images",
        parameters=IMAGE_PARAMETERS,
        places=IMAGE_PLACES,
        model=model,
        log_seconds=log_seconds,
        size=size,
        each=each,
        step=lambda fit, rows: image_step(gather([row.described for row in rows]), fit.constants),
        estimate=estimate,
        formula_seconds=by_formula,
        recorded_parts=recorded_parts,
        recorded_step=recorded_step,
    )
