"""Text's and images' own ways to describe, model and estimate, so that what asks need not know which of them it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from planner.speed.physics.part_formula import PartFormula
from planner.speed.physics.step_formulas import FORMULAS, IMAGE_FORMULAS

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.speed.estimator.estimator_query import EstimatorQuery
    from planner.speed.estimator.text_estimator import Estimates, Modelled
    from planner.speed.estimator.text_fit import Fit
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Observation
    from planner.speed.physics.parameters import Parameter


@dataclass(frozen=True)
class NetworkKind:
    """Networks of one kind, with one calibration."""

    unit: Literal["tokens", "images"]
    """Tokens or images."""
    parameters: Sequence[Parameter]
    formulas: dict[str, PartFormula]
    model: Callable[[Fit, Sequence[Observation]], Modelled]
    log_seconds: Callable[[Sequence[Observation]], Array]
    size: Callable[[Observation], tuple[float, float]]
    """Tokens or images of a step, and accelerators."""
    estimate: Callable[[Sequence[Observation], Sequence[Observation]], Estimates]
    """Of measurements, corrected by others."""
    formula_seconds: Callable[[Fit, Observation], dict[str, Array]]
    """By part, before what is known of the framework's kernels."""


def kind_of(asked: EstimatorQuery, calibration: Calibration) -> NetworkKind:
    """Return the kind of network that the physics was asked for."""
    return kind_of_images(calibration) if asked.is_of_images else kind_of_text(calibration)


def kind_of_text(calibration: Calibration) -> NetworkKind:
    """Return how networks of text are modelled and estimated with a calibration."""
    from planner.speed.estimator.expected_error import Known
    from planner.speed.estimator.text_estimator import estimate_text, model_text
    from planner.speed.estimator.text_fit import text_sample
    from planner.speed.physics.config_arrays import from_rows
    from planner.speed.physics.parameters import PARAMETERS
    from planner.speed.physics.step import formula_seconds

    known = Known.of(calibration)

    def model(fit: Fit, rows: Sequence[Observation]) -> Modelled:
        configs, labels = from_rows([row.config for row in rows]), [row.labels for row in rows]
        return model_text(fit, configs, labels, known)

    def size(row: Observation) -> tuple[float, float]:
        configs = from_rows([row.config])
        return float(configs.tokens_per_step[0]), float(configs.gpus[0])

    def estimate(rows: Sequence[Observation], own: Sequence[Observation]) -> Estimates:
        configs, labels = from_rows([row.config for row in rows]), [row.labels for row in rows]
        return estimate_text(configs, labels, calibration, own=own)

    def by_formula(fit: Fit, row: Observation) -> dict[str, Array]:
        return formula_seconds(from_rows([row.config]), fit.constants)

    return NetworkKind(
        "tokens", PARAMETERS, FORMULAS, model, lambda rows: text_sample(rows).log_seconds, size, estimate, by_formula
    )


def kind_of_images(calibration: Calibration) -> NetworkKind:
    """Return how image networks are modelled and estimated with a calibration."""
    from planner.speed.estimator.expected_error import Known
    from planner.speed.estimator.image_estimator import estimate_images, model_images
    from planner.speed.estimator.image_fit import image_sample
    from planner.speed.physics.image_config_arrays import gather
    from planner.speed.physics.image_parameters import IMAGE_PARAMETERS
    from planner.speed.physics.image_step import image_formula_seconds
    from planner.speed.physics.planned_image_config import ImageObservation

    known = Known.of(calibration)

    def images(rows: Sequence[Observation]) -> list[ImageObservation]:
        return [row for row in rows if isinstance(row, ImageObservation)]

    def model(fit: Fit, rows: Sequence[Observation]) -> Modelled:
        configs = gather([row.described for row in images(rows)])
        return model_images(fit, configs, [row.labels for row in rows], known)

    def size(row: Observation) -> tuple[float, float]:
        configs = gather([one.described for one in images([row])])
        return float(configs.images_per_step[0]), float(configs.gpus[0])

    def estimate(rows: Sequence[Observation], own: Sequence[Observation]) -> Estimates:
        configs = gather([row.described for row in images(rows)])
        return estimate_images(configs, [row.labels for row in rows], calibration, own=images(own))

    def log_seconds(rows: Sequence[Observation]) -> Array:
        return image_sample(images(rows)).log_seconds

    def by_formula(fit: Fit, row: Observation) -> dict[str, Array]:
        return image_formula_seconds(gather([one.described for one in images([row])]), fit.constants)

    return NetworkKind("images", IMAGE_PARAMETERS, IMAGE_FORMULAS, model, log_seconds, size, estimate, by_formula)
