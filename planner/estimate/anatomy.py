"""Takes a modelled step apart, of text or of images: parts, constants, effects, weights of runs, nearest evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from planner.estimate.calibrate import LEVELS, Fit
from planner.estimate.prediction import PhysicsAsked
from planner.estimate.step_formulas import ELSEWHERE, FORMULAS, IMAGE_FORMULAS, PartFormula
from planner.model.explanation import ConstantUsed, LabelEffect, NearRow, StepPart

if TYPE_CHECKING:
    from planner.estimate.observation import Observation
    from planner.estimate.own_runs import Place
    from planner.estimate.physics.configs import Array
    from planner.estimate.physics.parameters import Parameter
    from planner.model.calibration import Calibration

NUDGE = 1e-4
"""Of a logarithm, for derivatives."""
SMALLEST_INFLUENCE = 0.005
"""Per cent by which the step must grow with one per cent of a constant, for it to be listed."""
NEAREST = 3
OTHER_ACCELERATOR, OTHER_GENERATION, OTHER_FRAMEWORK = 1.0, 3.0, 1.0
"""Distances on top of that of the settings."""


@dataclass(frozen=True)
class Anatomy:
    """One step, taken apart; `size` in `unit`: tokens or images."""

    seconds: float
    size: float
    unit: str
    parts: tuple[StepPart, ...]
    constants: tuple[ConstantUsed, ...]
    effects: tuple[LabelEffect, ...]
    weights: dict[str, float]
    """By run: how much of its logarithmic error the estimate takes over."""
    nearest: tuple[NearRow, ...]


class Modelled(NamedTuple):
    """What the physics says of some configurations: ln seconds of a step, shares and all that an update needs."""

    log_step: Array
    place: Place


@dataclass(frozen=True)
class _Physics:
    """Text's or images' own way to describe and compute."""

    unit: str
    parameters: Sequence[Parameter]
    formulas: dict[str, PartFormula]
    model: Callable[[Fit, Sequence[Observation]], Modelled]
    log_seconds: Callable[[Sequence[Observation]], Array]
    size: Callable[[Observation], tuple[float, float]]
    """Tokens or images of a step, and accelerators."""
    estimate: Callable[[Sequence[Observation], Sequence[Observation]], Array]
    """Tokens/s or images/s of one accelerator, corrected by runs."""


def anatomy(asked: PhysicsAsked, calibration: Calibration, evidence: Sequence[Observation]) -> Anatomy:
    """Take the step apart: seconds of a part = its share / all shares x seconds of the step.

    A correction by runs spreads evenly over the parts, and so does what waiting for the slowest multiplies.
    """
    physics = _of_images(calibration) if asked.is_of_images else _of_text(calibration)
    fit, here = Fit(calibration.constants, calibration.effects), [asked.observation]
    log_step, place = physics.model(fit, here)
    size, gpus = physics.size(asked.observation)
    seconds = size / (float(physics.estimate(here, asked.own)[0]) * gpus)
    whole = sum(float(share[0]) for share in place.shares.values())
    parts = []
    for name, share in place.shares.items():
        if share[0] <= 0:
            continue
        formula = physics.formulas.get(name, ELSEWHERE)
        parts.append(
            StepPart(
                name=name,
                seconds=float(share[0]) / whole * seconds,
                share=float(share[0]) / whole,
                formula=formula.formula,
                where=formula.where,
            )
        )
    constants = []
    for parameter in physics.parameters:
        value = calibration.constants.get(parameter.name, parameter.prior)
        moved = replace(fit, constants=fit.constants | {parameter.name: value * math.exp(NUDGE)})
        influence = float((physics.model(moved, here).log_step - log_step)[0]) / NUDGE
        if abs(influence) >= SMALLEST_INFLUENCE:
            constants.append(_constant(parameter, value, influence))
    return Anatomy(
        seconds=seconds,
        size=size,
        unit=physics.unit,
        parts=tuple(sorted(parts, key=lambda part: -part.seconds)),
        constants=tuple(sorted(constants, key=lambda one: -abs(one.percent_per_percent))),
        effects=tuple(_effect(level, getattr(asked.label, level), calibration) for level in LEVELS),
        weights=_weights(physics, fit, asked, place),
        nearest=_nearest(physics, fit, asked, place, evidence),
    )


def _constant(parameter: Parameter, value: float, influence: float) -> ConstantUsed:
    return ConstantUsed(
        name=parameter.name, value=value, prior=parameter.prior, low=parameter.low, high=parameter.high,
        meaning=parameter.meaning, percent_per_percent=influence,
    )  # fmt: skip


def _effect(level: str, label: str, calibration: Calibration) -> LabelEffect:
    effect = calibration.effects[level].get(label)
    return LabelEffect(level=level, label=label, step_factor=None if effect is None else math.exp(effect))


def _weights(physics: _Physics, fit: Fit, asked: PhysicsAsked, place: Place) -> dict[str, float]:
    """Return the pull of each own run (own_runs.py)."""
    if not asked.own:
        return {}
    from planner.estimate.own_runs import update

    modelled, anchors = physics.model(fit, asked.own)
    posterior = update(place, anchors, physics.log_seconds(asked.own) - modelled)
    return {one.id: float(pull) for one, pull in zip(asked.own, posterior.pull[0], strict=True)}


def _nearest(
    physics: _Physics, fit: Fit, asked: PhysicsAsked, place: Place, evidence: Sequence[Observation]
) -> tuple[NearRow, ...]:
    """Return the published measurements whose settings are nearest, with what the calibration says of them."""
    if not evidence:
        return ()
    import numpy as np

    label = asked.label
    settings = ((physics.model(fit, evidence).place.features - place.features) ** 2).sum(axis=1)
    apart = [
        OTHER_ACCELERATOR * (one.labels.accelerator != label.accelerator)
        + OTHER_GENERATION * (one.labels.generation != label.generation)
        + OTHER_FRAMEWORK * (one.labels.framework != label.framework)
        for one in evidence
    ]
    distance = np.sqrt(settings) + np.array(apart)
    order = np.argsort(distance, kind="stable")[:NEAREST]
    rows = [evidence[int(place)] for place in order]
    return tuple(
        NearRow(
            id=row.id,
            source=row.labels.source,
            accelerator=row.labels.accelerator,
            workload=row.labels.workload,
            accelerators=round(physics.size(row)[1]),
            measured_per_s=row.tokens_per_s_per_gpu,
            modelled_per_s=float(modelled),
            distance=float(distance[at]),
        )
        for at, row, modelled in zip(order, rows, physics.estimate(rows, ()), strict=True)
    )


def _of_text(calibration: Calibration) -> _Physics:
    from planner.estimate.calibrate import model_step, sample
    from planner.estimate.estimator import estimate_many
    from planner.estimate.expected_error import Known, expected_error
    from planner.estimate.own_runs import Place, features
    from planner.estimate.physics.configs import from_rows
    from planner.estimate.physics.parameters import PARAMETERS

    known = Known.of(calibration)

    def model(fit: Fit, rows: Sequence[Observation]) -> Modelled:
        configs, labels = from_rows([row.config for row in rows]), [row.labels for row in rows]
        log_step, shares = model_step(fit, configs, labels)
        expected = expected_error(configs, labels, shares, known)
        return Modelled(log_step, Place(labels, shares, features(configs), expected))

    def size(row: Observation) -> tuple[float, float]:
        configs = from_rows([row.config])
        return float(configs.tokens_per_step[0]), float(configs.gpus[0])

    def estimate(rows: Sequence[Observation], own: Sequence[Observation]) -> Array:
        configs, labels = from_rows([row.config for row in rows]), [row.labels for row in rows]
        return estimate_many(configs, labels, calibration, own=own).tokens_per_s_per_gpu

    return _Physics("tokens", PARAMETERS, FORMULAS, model, lambda rows: sample(rows).log_seconds, size, estimate)


def _of_images(calibration: Calibration) -> _Physics:
    from planner.estimate.expected_error import Known
    from planner.estimate.image_config import ImageObservation
    from planner.estimate.image_estimator import estimate_images, model_images
    from planner.estimate.image_fit import image_sample
    from planner.estimate.physics.image_configs import gather
    from planner.estimate.physics.image_parameters import IMAGE_PARAMETERS

    known = Known.of(calibration)

    def images(rows: Sequence[Observation]) -> list[ImageObservation]:
        return [row for row in rows if isinstance(row, ImageObservation)]

    def model(fit: Fit, rows: Sequence[Observation]) -> Modelled:
        configs = gather([row.described for row in images(rows)])
        found = model_images(fit, configs, [row.labels for row in rows], known)
        return Modelled(found.log_step, found.place)

    def size(row: Observation) -> tuple[float, float]:
        configs = gather([one.described for one in images([row])])
        return float(configs.images_per_step[0]), float(configs.gpus[0])

    def estimate(rows: Sequence[Observation], own: Sequence[Observation]) -> Array:
        configs = gather([row.described for row in images(rows)])
        return estimate_images(configs, [row.labels for row in rows], calibration, own=images(own)).tokens_per_s_per_gpu

    def log_seconds(rows: Sequence[Observation]) -> Array:
        return image_sample(images(rows)).log_seconds

    return _Physics("images", IMAGE_PARAMETERS, IMAGE_FORMULAS, model, log_seconds, size, estimate)
