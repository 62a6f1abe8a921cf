"""Why the estimate of an image network is what it is: the parts of its step, its constants, the nearest evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from planner.estimate.image_config import ImageObservation, ImagesAsked
from planner.estimate.step_formulas import PartFormula
from planner.model.explanation import ConstantUsed, LabelEffect, NearRow, StepPart

if TYPE_CHECKING:
    from planner.model.calibration import Calibration

NUDGE = 1e-4
"""Of a logarithm, for derivatives."""
SMALLEST_INFLUENCE = 0.005
"""Per cent by which the step must grow with one per cent of a constant, for it to be listed."""
NEAREST = 3
OTHER_ACCELERATOR, OTHER_GENERATION, OTHER_FRAMEWORK = 1.0, 3.0, 1.0
"""Distances on top of that of the settings."""
IMAGES = "planner/estimate/physics/images.py"
FORMULAS = {
    "products": PartFormula(
        "sum over convolutions and products, 2 or 3 passes each, of the slower of FLOPs / (peak x share) and bytes / "
        "(bandwidth x hbm); planes are turned round for tensor cores",
        f"{IMAGES}: device_parts",
    ),
    "elementwise": PartFormula(
        "bytes of batch norms (3 passes forward, 5 backward) and element-wise operators / (bandwidth x hbm)",
        f"{IMAGES}: device_parts",
    ),
    "attention": PartFormula(
        "4 x tokens x length x width x 3.5 / (16-bit peak x attention)", f"{IMAGES}: device_parts"
    ),
    "tail": PartFormula("kernels x tail_us: idle device time after each", f"{IMAGES}: device_parts"),
    "host": PartFormula("kernels x kernel_us: what launching takes beyond the device's time", f"{IMAGES}: image_step"),
    "gradients": PartFormula(
        "2 x (n - 1) / n x gradient bytes / link rate, less what hides behind the backward pass",
        f"{IMAGES}: gradient_seconds",
    ),
    "optimizer": PartFormula("parameters held x optimizer bytes / (bandwidth x hbm)", f"{IMAGES}: image_step"),
    "overhead": PartFormula("step_ms: loop and optimizer on the host, once a step", f"{IMAGES}: image_step"),
    "waiting": PartFormula("jitter x log2(accelerators) of everything above", f"{IMAGES}: image_step"),
}


class ExplainedStep(NamedTuple):
    """A step of so many images, taken apart."""

    seconds: float
    images: float
    parts: tuple[StepPart, ...]
    constants: tuple[ConstantUsed, ...]
    effects: tuple[LabelEffect, ...]
    weights: dict[str, float]


def explain_image_step(asked: ImagesAsked, calibration: Calibration) -> ExplainedStep:
    """Take the step apart: seconds of a part = its share x seconds of the step, corrections by runs spread evenly."""
    from planner.estimate.calibrate import Fit
    from planner.estimate.expected_error import Known
    from planner.estimate.image_estimator import estimate_images, model_images
    from planner.estimate.image_fit import LEVEL_SPREAD, image_sample, model_image_step
    from planner.estimate.own_runs import update
    from planner.estimate.physics.image_configs import gather
    from planner.estimate.physics.image_parameters import IMAGE_PARAMETERS

    configs, labels, fit = gather([asked.described]), [asked.label], Fit(calibration.constants, calibration.effects)
    log_step, shares = model_image_step(fit, configs, labels)
    own = [one for one in asked.own if isinstance(one, ImageObservation)]
    found = estimate_images(configs, labels, calibration, own=own)
    images = float(configs.images_per_step[0])
    seconds = images / (float(found.tokens_per_s_per_gpu[0]) * float(configs.gpus[0]))
    parts = [
        StepPart(
            name=name, seconds=float(share[0]) * seconds, share=float(share[0]),
            formula=FORMULAS[name].formula, where=FORMULAS[name].where,
        )
        for name, share in shares.items()
        if share[0] > 0 and name in FORMULAS
    ]  # fmt: skip
    constants = []
    for each in IMAGE_PARAMETERS:
        value = calibration.constants[each.name]
        moved = replace(fit, constants=fit.constants | {each.name: value * math.exp(NUDGE)})
        influence = float((model_image_step(moved, configs, labels)[0] - log_step)[0]) / NUDGE
        if abs(influence) >= SMALLEST_INFLUENCE:
            constants.append(
                ConstantUsed(
                    name=each.name, value=value, prior=each.prior, low=each.low, high=each.high,
                    meaning=each.meaning, percent_per_percent=influence,
                )
            )  # fmt: skip
    effects = []
    for level in LEVEL_SPREAD:
        label = getattr(asked.label, level)
        effect = calibration.effects[level].get(label)
        factor = None if effect is None else math.exp(effect)
        effects.append(LabelEffect(level=level, label=label, step_factor=factor))
    weights: dict[str, float] = {}
    if own:
        known, data = Known.of(calibration), image_sample(own)
        anchors = model_images(fit, data.configs, data.labels, known)
        here = model_images(fit, configs, labels, known)
        pull = update(here.place, anchors.place, data.log_seconds - anchors.log_step).pull[0]
        weights = {one.id: float(weight) for one, weight in zip(own, pull, strict=True)}
    return ExplainedStep(
        seconds,
        images,
        tuple(sorted(parts, key=lambda part: -part.seconds)),
        tuple(sorted(constants, key=lambda one: -abs(one.percent_per_percent))),
        tuple(effects),
        weights,
    )


def nearest_images(
    asked: ImagesAsked, calibration: Calibration, evidence: Sequence[ImageObservation]
) -> tuple[NearRow, ...]:
    """Return the published measurements whose settings are nearest, with what the calibration says of them."""
    if not evidence:
        return ()
    import numpy as np

    from planner.estimate.image_estimator import estimate_images, features
    from planner.estimate.physics.image_configs import gather

    configs = gather([one.described for one in evidence])
    settings = ((features(configs) - features(gather([asked.described]))) ** 2).sum(axis=1)
    label = asked.label
    apart = [
        OTHER_ACCELERATOR * (one.labels.accelerator != label.accelerator)
        + OTHER_GENERATION * (one.labels.generation != label.generation)
        + OTHER_FRAMEWORK * (one.labels.framework != label.framework)
        for one in evidence
    ]
    distance = np.sqrt(settings) + np.array(apart)
    chosen = [int(place) for place in np.argsort(distance, kind="stable")[:NEAREST]]
    rows = [evidence[place] for place in chosen]
    modelled = estimate_images(gather([one.described for one in rows]), [one.labels for one in rows], calibration)
    return tuple(
        NearRow(
            id=one.id, source=one.labels.source, accelerator=one.labels.accelerator, workload=one.labels.workload,
            accelerators=int(one.config["dp"]), measured_tokens_per_s=one.tokens_per_s_per_gpu,
            modelled_tokens_per_s=float(modelled.tokens_per_s_per_gpu[row]), distance=float(distance[chosen[row]]),
        )
        for row, one in enumerate(rows)
    )  # fmt: skip
