"""Why the estimate of an option is what it is: the parts of its step, its constants, and what each run moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.errors import NotFoundError
from planner.estimate.border import stated
from planner.estimate.candidate import Candidate, expand
from planner.estimate.estimate_plan import estimate_options
from planner.estimate.explain_images import explain_image_step, nearest_images
from planner.estimate.image_config import ImageObservation, ImagesAsked
from planner.estimate.job import Job, resolve_job
from planner.estimate.predict import predict
from planner.estimate.prediction import PhysicsAsked, Prediction
from planner.estimate.speed import Speed, fastest, speed
from planner.estimate.step_formulas import ELSEWHERE, FORMULAS
from planner.model.answer import OptionEstimate
from planner.model.catalog import Catalog
from planner.model.explanation import (
    ConstantUsed,
    ExplainDocument,
    LabelEffect,
    NearRow,
    OptionExplanation,
    RunEffect,
    StepPart,
)
from planner.model.plan import Plan
from planner.model.quantity import Quantity, Unit

if TYPE_CHECKING:
    from planner.estimate.observation import Observation
    from planner.model.calibration import Calibration

NUDGE = 1e-4
"""Of a logarithm, for derivatives."""
SMALLEST_INFLUENCE = 0.005
"""Per cent by which the step must grow with one per cent of a constant, for it to be listed."""
NEAREST = 3
OTHER_ACCELERATOR, OTHER_GENERATION, OTHER_FRAMEWORK = 1.0, 3.0, 1.0
"""Distances on top of that of the settings."""


@dataclass(frozen=True)
class _Physics:
    seconds: float
    tokens: float
    parts: tuple[StepPart, ...]
    constants: tuple[ConstantUsed, ...]
    effects: tuple[LabelEffect, ...]
    weights: dict[str, float]


def explain_plan(
    plan: Plan, catalog: Catalog, evidence: Sequence[Observation], *, option: str | None = None
) -> ExplainDocument:
    """Explain every option of the plan, or the one that is named."""
    candidates = expand(plan, catalog)
    if option is not None and option not in {candidate.id for candidate in candidates}:
        known = [candidate.id for candidate in candidates]
        raise NotFoundError("option", option, known, where="--option", fix=f"The plan has: {', '.join(known)}")
    job = resolve_job(plan, catalog)
    estimates = {one.option.id: one.option for one in estimate_options(plan, catalog).options}
    return ExplainDocument(
        plan=plan.name,
        options=tuple(
            _explained(job, candidate, catalog, estimates[candidate.id], evidence)
            for candidate in candidates
            if option in (None, candidate.id)
        ),
    )


def _explained(
    job: Job, candidate: Candidate, catalog: Catalog, estimate: OptionEstimate, evidence: Sequence[Observation]
) -> OptionExplanation:
    chosen, found = fastest(job, candidate, catalog)
    predicted = predict(replace(job, mfu=None), chosen, catalog, found.fit)
    prediction = predicted if isinstance(predicted, Prediction) and predicted.asked is not None else None
    calibration = catalog.calibration
    physics: _Physics | None = None
    nearest: tuple[NearRow, ...] = ()
    images = prediction is not None and isinstance(prediction.asked, ImagesAsked)
    if prediction is not None and isinstance(prediction.asked, ImagesAsked) and catalog.image_calibration is not None:
        physics = _Physics(*explain_image_step(prediction.asked, catalog.image_calibration))
        published = [one for one in evidence if isinstance(one, ImageObservation)]
        nearest = nearest_images(prediction.asked, catalog.image_calibration, published)
    elif prediction is not None and prediction.asked is not None and calibration is not None:
        physics = _physics(prediction.asked, calibration)
        published_text = [one for one in evidence if not isinstance(one, ImageObservation)]
        nearest = _nearest(prediction.asked, calibration, published_text)
    return OptionExplanation(
        id=estimate.id,
        name=estimate.name,
        throughput=estimate.throughput,
        physics=_quantity(prediction),
        step_seconds=physics.seconds if physics else None,
        step_tokens=physics.tokens if physics else None,
        unit="images" if images else "tokens",
        parts=physics.parts if physics else (),
        constants=physics.constants if physics else (),
        effects=physics.effects if physics else (),
        runs=_run_effects(job, chosen, catalog, found, physics.weights if physics else {}),
        nearest=nearest,
        time=estimate.time,
        notes=estimate.notes,
        why_not=estimate.why_not,
    )


def _quantity(prediction: Prediction | None) -> Quantity | None:
    if prediction is None:
        return None
    return stated(prediction.samples_per_s, Unit.SAMPLES_PER_S, prediction.basis, prediction.source, prediction.as_of)


def _run_effects(
    job: Job, candidate: Candidate, catalog: Catalog, found: Speed, weights: dict[str, float]
) -> tuple[RunEffect, ...]:
    """Answer again without each of the runs; the difference is what that run moves. The largest move comes first."""
    effects = []
    for run_id in found.run_ids:
        others = {key: run for key, run in catalog.runs.items() if key != run_id}
        again = speed(job, candidate, catalog.model_copy(update={"runs": others}))
        without, change = None, None
        if again.samples_per_s is not None:
            without = stated(again.samples_per_s, Unit.SAMPLES_PER_S, again.basis, again.source, again.as_of)
            if found.samples_per_s is not None:
                change = found.samples_per_s.value / again.samples_per_s.value - 1
        weight = weights.get(run_id) if found.basis.value == "modelled" else None
        effects.append(RunEffect(id=run_id, weight=weight, without=without, change_fraction=change))
    return tuple(sorted(effects, key=lambda one: (one.change_fraction is not None, -abs(one.change_fraction or 0))))


def _physics(asked: PhysicsAsked, calibration: Calibration) -> _Physics:
    """Take the step apart: seconds of a part = its share x seconds of the step, corrections by runs spread evenly."""
    from planner.estimate.calibrate import LEVELS, model_step
    from planner.estimate.estimator import estimate_many, fitted
    from planner.estimate.physics.configs import from_rows
    from planner.estimate.physics.parameters import PARAMETERS

    configs, labels, fit = from_rows([asked.config]), [asked.label], fitted(calibration)
    log_step, shares = model_step(fit, configs, labels)
    found = estimate_many(configs, labels, calibration, own=asked.own)
    tokens = float(configs.tokens_per_step[0])
    seconds = tokens / (float(found.tokens_per_s_per_gpu[0]) * float(configs.gpus[0]))
    parts = [
        StepPart(
            name=name,
            seconds=float(share[0]) * seconds,
            share=float(share[0]),
            formula=FORMULAS.get(name, ELSEWHERE).formula,
            where=FORMULAS.get(name, ELSEWHERE).where,
        )
        for name, share in shares.items()
        if share[0] > 0
    ]
    constants = []
    for parameter in PARAMETERS:
        value = calibration.constants.get(parameter.name, parameter.prior)
        moved = replace(fit, constants=fit.constants | {parameter.name: value * math.exp(NUDGE)})
        influence = float((model_step(moved, configs, labels)[0] - log_step)[0]) / NUDGE
        if abs(influence) < SMALLEST_INFLUENCE:
            continue
        constants.append(
            ConstantUsed(
                name=parameter.name, value=value, prior=parameter.prior, low=parameter.low, high=parameter.high,
                meaning=parameter.meaning, percent_per_percent=influence,
            )
        )  # fmt: skip
    effects = []
    for level in LEVELS:
        label = getattr(asked.label, level)
        effect = calibration.effects[level].get(label)
        factor = None if effect is None else math.exp(effect)
        effects.append(LabelEffect(level=level, label=label, step_factor=factor))
    return _Physics(
        seconds=seconds,
        tokens=tokens,
        parts=tuple(sorted(parts, key=lambda part: -part.seconds)),
        constants=tuple(sorted(constants, key=lambda one: -abs(one.percent_per_percent))),
        effects=tuple(effects),
        weights=_weights(asked, calibration),
    )


def _weights(asked: PhysicsAsked, calibration: Calibration) -> dict[str, float]:
    """Return how much of each own run's logarithmic error the estimate takes over (own_runs.py)."""
    if not asked.own:
        return {}
    from planner.estimate.calibrate import model_step, sample
    from planner.estimate.estimator import fitted
    from planner.estimate.expected_error import Known, expected_error
    from planner.estimate.own_runs import Place, features, update
    from planner.estimate.physics.configs import Configs, from_rows

    fit, known = fitted(calibration), Known.of(calibration)

    def place(configs: Configs, labels: Sequence[object]) -> Place:
        _, shares = model_step(fit, configs, labels)  # type: ignore[arg-type]
        expected = expected_error(configs, labels, shares, known)  # type: ignore[arg-type]
        return Place(labels, shares, features(configs), expected)  # type: ignore[arg-type]

    data = sample(asked.own)
    modelled, _ = model_step(fit, data.configs, data.labels)
    asked_place = place(from_rows([asked.config]), [asked.label])
    posterior = update(asked_place, place(data.configs, data.labels), data.log_seconds - modelled)
    return {one.id: float(pull) for one, pull in zip(asked.own, posterior.pull[0], strict=True)}


def _nearest(asked: PhysicsAsked, calibration: Calibration, evidence: Sequence[Observation]) -> tuple[NearRow, ...]:
    """Return the published measurements whose settings are nearest, with what the calibration says of them."""
    if not evidence:
        return ()
    import numpy as np

    from planner.estimate.estimator import estimate_many
    from planner.estimate.own_runs import features
    from planner.estimate.physics.configs import from_rows

    configs = from_rows([one.config for one in evidence])
    here = features(from_rows([asked.config]))
    settings = ((features(configs) - here) ** 2).sum(axis=1)
    label = asked.label
    apart = [
        OTHER_ACCELERATOR * (one.labels.accelerator != label.accelerator)
        + OTHER_GENERATION * (one.labels.generation != label.generation)
        + OTHER_FRAMEWORK * (one.labels.framework != label.framework)
        for one in evidence
    ]
    distance = np.sqrt(settings) + np.array(apart)
    order = np.argsort(distance, kind="stable")[:NEAREST]
    modelled = estimate_many(configs.at(order), [evidence[int(place)].labels for place in order], calibration)
    return tuple(
        NearRow(
            id=evidence[int(place)].id,
            source=evidence[int(place)].labels.source,
            accelerator=evidence[int(place)].labels.accelerator,
            workload=evidence[int(place)].labels.workload,
            accelerators=int(configs.gpus[place]),
            measured_tokens_per_s=evidence[int(place)].tokens_per_s_per_gpu,
            modelled_tokens_per_s=float(modelled.tokens_per_s_per_gpu[row]),
            distance=float(distance[place]),
        )
        for row, place in enumerate(order)
    )
