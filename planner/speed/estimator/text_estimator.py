"""Estimator of text networks, and the estimator that text and images share.

It maps configurations to tokens/s or images/s per accelerator with ranges, up to a hundred thousand at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Literal

from planner.speed.estimator.doubt import count_nearby_sources, doubt, points_of
from planner.speed.estimator.estimates import Estimates, Modelled, corrected, estimates
from planner.speed.estimator.expected_error import (
    COMMON_VARIANCE,
    NOISE,
    PART_ERROR,
    KnownLabels,
    count_evidence,
    expected_error,
    groups_of,
    groups_with_own_runs,
    variance_of_unknown,
)
from planner.speed.estimator.fit_sample import Fit, FitSample, OfPhysics, PhysicsProblem
from planner.speed.estimator.lone_kernel_errors import probed_kernels
from planner.speed.estimator.own_runs import (
    UpdatePoints,
    contradiction,
    features,
    spans_nodes,
    surprise_of_runs,
    update,
)
from planner.speed.estimator.text_fit import WHOLE_STEP, TextProblem, with_label_effects
from planner.speed.physics import communication, compute
from planner.speed.physics import step as text_physics
from planner.speed.physics.accelerator_facts import formats_of
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.observation import of_each
from planner.speed.physics.parameters import ABSENT, ABSENT_OF_IMAGES, PARAMETERS, Parameter
from planner.speed.physics.part_formula import places_of
from planner.speed.physics.step import lone_parts

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Labels, LoneKernel, Observation
    from planner.speed.physics.step import Step

MEASUREMENTS_KEPT = 32
"""Number of sets of own measurements whose modelled steps are cached. Most machines of a plan use the same set."""


@dataclass(frozen=True, eq=False)
class Physics(Generic[OfPhysics]):
    """Functions of one physics, of text networks or of image networks, that fits and estimates need."""

    name: str
    """Name of the estimator."""
    unit: Literal["tokens", "images"]
    """Unit of the samples."""
    parameters: Sequence[Parameter]
    places: Mapping[str, str]
    """File and function that compute each part of a step, as `planner explain` shows them."""
    configs: Callable[[Sequence[Observation]], OfPhysics]
    problem: Callable[[FitSample[OfPhysics]], PhysicsProblem]
    """Return the least-squares problem of a sample."""
    with_effects: Callable[[Fit, OfPhysics, Sequence[Labels]], OfPhysics]
    """Return configurations scaled by the effects of labels on parts of a step."""
    step: Callable[[OfPhysics, Mapping[str, float]], Step]
    formula_seconds: Callable[[OfPhysics, Mapping[str, float]], dict[str, Array]]
    """Return the seconds of each part by its own formula."""
    features: Callable[[OfPhysics], Array]
    """Return the coordinates of configurations, in units of the distance at which settings inform little."""
    expected_error: Callable[[OfPhysics, Sequence[Labels], dict[str, Array], KnownLabels], Array]
    groups: Callable[[OfPhysics, Sequence[Labels], KnownLabels], tuple[str, ...]]
    groups_with_own_runs: Callable[[OfPhysics], tuple[str, ...]]
    formats: Callable[[OfPhysics], Sequence[str]] = lambda configs: ()  # noqa: ARG005
    """Return the number formats of which evidence is counted."""
    work: Callable[[Observation], str] = lambda row: ""  # noqa: ARG005
    """Return the work of one sample in words, or "" for tokens."""

    def sample(self, rows: Sequence[Observation]) -> FitSample[OfPhysics]:
        """Return observations as a sample.

        seconds of a step = tokens or images of a step / (tokens or images per second and accelerator x accelerators)
        """
        import numpy as np

        configs = self.configs(rows)
        seconds = configs.units_per_step / (np.array([row.tokens_per_s_per_gpu for row in rows]) * configs.gpus)
        return FitSample(configs, tuple(row.labels for row in rows), np.log(seconds))

    def fit(self, data: FitSample[OfPhysics], start: Fit | None = None, *, rounds: int | None = None) -> Fit:
        """Return the most probable constants and effects of a sample, as `PhysicsProblem.most_probable` does."""
        return self.problem(data).most_probable(start, rounds=rounds)

    def known(self, data: FitSample[OfPhysics]) -> KnownLabels:
        """Return the labels, number formats and settings that a sample has evidence of."""
        points = points_of(data.labels, self.features(data.configs))
        return count_evidence(data.labels, data.configs.gpus, self.formats(data.configs), points=points)

    def log_step(self, fit: Fit, configs: OfPhysics, labels: Sequence[Labels]) -> tuple[Array, dict[str, Array]]:
        """Return ln of the modelled step seconds, with the effects of known labels, and the shares of the parts."""
        import numpy as np

        effects = fit.effects
        added = of_each(
            labels, lambda label: sum(effects[level].get(getattr(label, level), 0.0) for level in WHOLE_STEP)
        )
        modelled = self.step(self.with_effects(fit, configs, labels), fit.constants)
        return np.asarray(np.log(modelled.seconds) + added), modelled.shares

    def modelled(self, fit: Fit, configs: OfPhysics, labels: Sequence[Labels], known: KnownLabels) -> Modelled:
        """Return modelled steps with their expected errors, without own measurements."""
        import numpy as np

        log_step, shares = self.log_step(fit, configs, labels)
        shares = {name: np.zeros(len(configs)) for name in PART_ERROR if name not in shares} | shares
        expected = self.expected_error(configs, labels, shares, known)
        place = UpdatePoints(labels, shares, self.features(configs), expected, spans_nodes(configs))
        nearby = count_nearby_sources(labels, place.features, known.points)
        groups, with_own = self.groups(configs, labels, known), self.groups_with_own_runs(configs)
        return Modelled(log_step, place, groups, with_own, nearby, doubt(place.expected, labels, nearby))

    def modelled_rows(self, fit: Fit, rows: Sequence[Observation], known: KnownLabels) -> Modelled:
        """Return modelled steps of measurements. Kernels of a probe are modelled by the parts that they measure."""
        modelled = self.modelled(fit, self.configs(rows), [row.labels for row in rows], known)
        return _with_kernels(modelled, fit, rows, known)

    def estimate(
        self,
        configs: OfPhysics,
        labels: Sequence[Labels],
        calibration: Calibration,
        *,
        own: Sequence[Observation] = (),
    ) -> Estimates:
        """Estimate configurations and correct the answer by the user's `own` measurements.

        tokens/s or images/s per accelerator = tokens or images of a step / (step seconds x accelerators)
        """
        import numpy as np

        modelled = self.modelled(fitted(calibration), configs, labels, KnownLabels.of(calibration))
        if own:
            modelled = corrected(modelled, *_modelled_runs(self, tuple(own), calibration))
        return estimates(modelled, np.log(configs.units_per_step / configs.gpus), calibration.spreads)


@lru_cache(maxsize=MEASUREMENTS_KEPT)
def _modelled_runs(
    physics: Physics[Any], own: tuple[Observation, ...], calibration: Calibration
) -> tuple[Modelled, Array]:
    """Return the modelled steps of own measurements, and ln of their measured seconds."""
    modelled = physics.modelled_rows(fitted(calibration), own, KnownLabels.of(calibration))
    return modelled, physics.sample(own).log_seconds


def contradiction_of(own: tuple[Observation, ...], calibration: Calibration) -> tuple[str, float] | None:
    """Return the run that kernels contradict most and its seconds over those that they predict, or None."""
    modelled, log_seconds = _modelled_runs(OF_TEXT, own, calibration)
    errors = log_seconds - modelled.log_step
    if contradiction(modelled.place, errors) <= 1:
        return None
    import numpy as np

    runs = np.flatnonzero(~modelled.place.kernels.measured)
    z = surprise_of_runs(modelled.place, errors)
    worst = int(np.argmax(abs(z)))
    kernels = np.flatnonzero(modelled.place.kernels.measured)
    shift = update(modelled.place.at(runs[[worst]]), modelled.place.at(kernels), errors[kernels]).shift
    return own[int(runs[worst])].id, float(np.exp(errors[runs[worst]] - shift[0]))


OF_TEXT = Physics(
    name="estimator",
    unit="tokens",
    parameters=PARAMETERS,
    places=places_of(compute, communication, text_physics),
    configs=lambda rows: from_rows([row.config for row in rows]),
    problem=TextProblem,
    with_effects=with_label_effects,
    step=text_physics.step,
    formula_seconds=text_physics.formula_seconds,
    features=features,
    expected_error=expected_error,
    groups=groups_of,
    groups_with_own_runs=groups_with_own_runs,
    formats=formats_of,
)


def fitted(calibration: Calibration) -> Fit:
    """Return a calibration's constants and effects, with defaults for constants that older calibrations lack."""
    return Fit(ABSENT_OF_IMAGES | ABSENT | calibration.constants, calibration.effects)


def _with_kernels(modelled: Modelled, fit: Fit, rows: Sequence[Observation], known: KnownLabels) -> Modelled:
    """Return modelled steps in which kernels of a probe replace the steps of their rows."""
    lone = probed_kernels(rows)
    if lone is None:
        return modelled
    import numpy as np

    log_step, shares = modelled.log_step.copy(), {part: share.copy() for part, share in modelled.place.shares.items()}
    expected = modelled.place.expected.copy()
    for number, row in enumerate(rows):
        if row.kernel is not None:
            error, of_parts = _lone_error(fit, row, row.kernel)
            log_step[number] = math.log(row.kernel.shapes[0][2]) - error
            for part, share in shares.items():
                share[number] = of_parts.get(part, 0.0)
            parts = sum((PART_ERROR[part] * share) ** 2 for part, share in of_parts.items())
            common = NOISE**2 if lone.alone[number] else COMMON_VARIANCE
            unknown = variance_of_unknown(row.labels, known, ("accelerator", "generation"))
            expected[number] = math.sqrt(common + parts + unknown + float(lone.own_variance[number]))
    place = modelled.place._replace(shares=shares, expected=np.asarray(expected), lone=lone)
    return modelled._replace(log_step=log_step, place=place)


def _lone_error(fit: Fit, row: Observation, kernel: LoneKernel) -> tuple[float, dict[str, float]]:
    """Return the mean ln(measured / predicted) over the shapes of a kernel, and the mean shares of its parts."""
    import numpy as np

    configs = with_label_effects(
        fit, from_rows([config for config, _, _ in kernel.shapes]), [row.labels] * len(kernel.shapes)
    )
    parts = lone_parts(kernel.kind, configs, fit.constants, np.array([size for _, size, _ in kernel.shapes]))
    predicted = np.sum(list(parts.values()), axis=0)
    measured = np.array([seconds for _, _, seconds in kernel.shapes])
    shares = {part: float((seconds / predicted).mean()) for part, seconds in parts.items()}
    return float(np.log(measured / predicted).mean()), shares
