"""Break a modelled step into its parts: seconds, constants, effects, weights of runs, similar evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from planner.model.answer.explanation import ConstantUsed, LabelEffect, NearRow, StepCorrection, StepPart
from planner.model.quantity import FormulaUsed
from planner.quantity.formula import named, stated
from planner.quantity.formula_text import printed
from planner.quantity.recorded_number import float_of, recording
from planner.speed.estimator.fit_sample import Fit
from planner.speed.estimator.network_kind import EstimatorQuery, NetworkKind, kind_of
from planner.speed.estimator.text_estimator import fitted
from planner.speed.estimator.text_fit import LEVELS, WHOLE_STEP

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.speed.estimator.own_runs import UpdatePoints
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Observation
    from planner.speed.physics.parameters import Parameter

NUDGE = 1e-4
"""Step of a logarithm for derivatives."""
SMALLEST_INFLUENCE = 0.0005
"""Growth of the step in per cent, for one per cent of a constant, from which on the constant is listed."""
NEAREST = 3
OTHER_ACCELERATOR, OTHER_GENERATION, OTHER_FRAMEWORK = 1.0, 3.0, 1.0
"""Distances that are added to the distance of the settings."""


@dataclass(frozen=True)
class StepBreakdown:
    """One step in its parts; `size` in `unit`: tokens or images."""

    seconds: float
    size: float
    unit: Literal["tokens", "images"]
    parts: tuple[StepPart, ...]
    constants: tuple[ConstantUsed, ...]
    effects: tuple[LabelEffect, ...]
    weights: dict[str, float]
    """Share of each run's logarithmic error that the estimate takes over, by run."""
    correction: StepCorrection
    recorded_seconds: float
    """The seconds, which remember how they are computed."""
    nearest: tuple[NearRow, ...]


class Published:
    """Published measurements of text or images, whose settings are modelled once for all questions."""

    def __init__(self, rows: Sequence[Observation]) -> None:
        self.rows = rows
        self.answered: dict[tuple[object, ...], StepBreakdown] = {}
        """Steps that were broken down already, because many options of a plan differ only in price."""
        self._features: Array | None = None

    def features(self, kind: NetworkKind, fit: Fit) -> Array:
        """Return the features between which distances are measured, a row for each measurement."""
        if self._features is None:
            self._features = kind.model(fit, self.rows).place.features
        return self._features


def step_breakdown(query: EstimatorQuery, calibration: Calibration, evidence: Published) -> StepBreakdown:
    """Break down the step: seconds of a part = its share / all shares x seconds of the corrected step.

    The correction by labels and runs therefore spreads evenly over the parts.
    """
    observation = query.observation
    key = (query.label, observation.id, *observation.config.items(), *(own.id for own in query.own))
    if key not in evidence.answered:
        evidence.answered[key] = _step_breakdown(query, calibration, evidence)
    return evidence.answered[key]


def _step_breakdown(query: EstimatorQuery, calibration: Calibration, evidence: Published) -> StepBreakdown:
    kind = kind_of(query, calibration)
    fit, observations = fitted(calibration), [query.observation]
    modelled = kind.model(fit, observations)
    log_step, place = modelled.log_step, modelled.place
    size, gpus = kind.size(query.observation)
    seconds = size / (float(kind.estimate(observations, query.own).tokens_per_s_per_gpu[0]) * gpus)
    modelled_seconds = math.exp(float(log_step[0]))
    effects = tuple(_effect(level, getattr(query.label, level), calibration) for level in LEVELS)
    by_labels = math.prod(effect.step_factor or 1.0 for effect in effects if effect.level in WHOLE_STEP)
    by_runs = seconds / modelled_seconds
    by_formula = kind.formula_seconds(fit, query.observation)
    whole = sum(float(share[0]) for share in place.shares.values())
    recorded, recorded_seconds = _recorded(kind, fit, query.observation, by_labels, by_runs)
    parts = []
    for name, share in place.shares.items():
        if share[0] <= 0:
            continue
        alone = float(by_formula[name][0]) * by_labels * by_runs if name in by_formula else 0.0
        formula = recorded.get(name)
        parts.append(
            StepPart(
                name=name,
                seconds=float(share[0]) / whole * seconds,
                share=float(share[0]) / whole,
                times=float(share[0]) / whole * seconds / alone if alone else None,
                formula=formula.text if formula else "",
                where=kind.places.get(name, ""),
                inputs=formula.inputs if formula else (),
            )
        )
    constants = []
    for parameter in kind.parameters:
        value = calibration.constants.get(parameter.name, parameter.prior)
        moved = replace(fit, constants=fit.constants | {parameter.name: value * math.exp(NUDGE)})
        influence = float((kind.model(moved, observations).log_step - log_step)[0]) / NUDGE
        if abs(influence) >= SMALLEST_INFLUENCE:
            constants.append(_constant(parameter, value, influence))
    return StepBreakdown(
        seconds=seconds,
        size=size,
        unit=kind.unit,
        parts=tuple(sorted(parts, key=lambda part: -part.seconds)),
        constants=tuple(sorted(constants, key=lambda constant: -abs(constant.percent_per_percent))),
        effects=effects,
        weights=_weights(kind, fit, query, place),
        correction=StepCorrection(
            factor=by_labels * by_runs,
            by_labels=by_labels,
            by_runs=by_runs,
            runs=sum(run.kernel is None for run in query.own),
        ),
        recorded_seconds=recorded_seconds,
        nearest=_similar_measurements(kind, fit, query, place, evidence),
    )


def _recorded(
    kind: NetworkKind, fit: Fit, row: Observation, by_labels: float, by_runs: float
) -> tuple[dict[str, FormulaUsed], float]:
    """Return the formula of every part, and the seconds of the step with their formula."""
    with recording():
        parts = {name: printed({name: seconds.ravel()[0]}) for name, seconds in kind.recorded_parts(fit, row).items()}
        physics = float_of(
            named("physics_seconds", kind.recorded_step(fit, row).ravel()[0], "s", "a step by the parts")
        )
        labels = stated(
            "by_labels", by_labels, "", "product of the label effects on a whole step, listed below the parts"
        )
        runs = stated(
            "by_runs",
            by_runs,
            "",
            "correction by the runs that are listed below the parts (docs/estimator.md, section 4)",
        )
        seconds = named("step_seconds", physics * labels * runs, "s", "a step as it is answered")
    return {name: formulas[0] for name, formulas in parts.items() if formulas}, seconds


def _constant(parameter: Parameter, value: float, influence: float) -> ConstantUsed:
    return ConstantUsed(
        name=parameter.name, value=value, prior=parameter.prior, spread=parameter.spread, low=parameter.low,
        high=parameter.high, meaning=parameter.meaning, percent_per_percent=influence,
    )  # fmt: skip


def _effect(level: str, label: str, calibration: Calibration) -> LabelEffect:
    effect = calibration.effects.get(level, {}).get(label)
    return LabelEffect(level=level, label=label, step_factor=None if effect is None else math.exp(effect))


def _weights(kind: NetworkKind, fit: Fit, query: EstimatorQuery, place: UpdatePoints) -> dict[str, float]:
    """Return the pull of each own run (own_runs.py)."""
    if not query.own:
        return {}
    from planner.speed.estimator.own_runs import update

    anchors = kind.model(fit, query.own)
    posterior = update(place, anchors.place, kind.log_seconds(query.own) - anchors.log_step)
    return {run.id: float(pull) for run, pull in zip(query.own, posterior.pull[0], strict=True)}


def _similar_measurements(
    kind: NetworkKind, fit: Fit, query: EstimatorQuery, place: UpdatePoints, published: Published
) -> tuple[NearRow, ...]:
    """Return the published measurements with the most similar settings, with their modelled speeds."""
    evidence = published.rows
    if not evidence:
        return ()
    import numpy as np

    label = query.label
    settings = ((published.features(kind, fit) - place.features) ** 2).sum(axis=1)
    apart = [
        OTHER_ACCELERATOR * (row.labels.accelerator != label.accelerator)
        + OTHER_GENERATION * (row.labels.generation != label.generation)
        + OTHER_FRAMEWORK * (row.labels.framework != label.framework)
        for row in evidence
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
            accelerators=round(kind.size(row)[1]),
            measured_per_s=row.tokens_per_s_per_gpu,
            modelled_per_s=float(modelled),
            distance=float(distance[at]),
        )
        for at, row, modelled in zip(order, rows, kind.estimate(rows, ()).tokens_per_s_per_gpu, strict=True)
    )
