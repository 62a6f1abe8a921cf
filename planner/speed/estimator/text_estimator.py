"""Estimator of text networks, and the estimator that text and images share.

It maps configurations to tokens/s or images/s per accelerator with ranges, up to a hundred thousand at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from planner.speed.estimator.doubt import count_nearby_sources, doubt, doubt_with_own_runs
from planner.speed.estimator.expected_error import (
    COMMON_VARIANCE,
    NOISE,
    PART_ERROR,
    KnownLabels,
    expected_error,
    groups_of,
    groups_with_own_runs,
    variance_of_unknown,
)
from planner.speed.estimator.fit_sample import Fit, FitSample, OfPhysics
from planner.speed.estimator.lone_kernel_errors import probed_kernels
from planner.speed.estimator.own_runs import (
    UpdatePoints,
    contradiction,
    features,
    spans_nodes,
    surprise_of_runs,
    update,
)
from planner.speed.estimator.ranges import half_widths
from planner.speed.estimator.text_fit import model_text_step, text_sample, with_label_effects
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.observation import of_each
from planner.speed.physics.parameters import ABSENT, ABSENT_OF_IMAGES
from planner.speed.physics.step import lone_parts

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration, Spread
    from planner.speed.physics.config_arrays import Array, Configs
    from planner.speed.physics.observation import Labels, LoneKernel, Observation

CAUTION = 1.6449
"""Number of expected errors by which a rate is lowered for ranking: the 95th percentile of normal errors."""
MEASUREMENTS_KEPT = 32
"""Number of sets of own measurements whose modelled steps are cached. Most machines of a plan use the same set."""


class Modelled(NamedTuple):
    """Modelled steps of configurations with their expected errors."""

    log_step: Array
    """ln of the seconds of a step."""
    place: UpdatePoints
    groups: tuple[str, ...]
    groups_with_own: tuple[str, ...]
    """Groups if a run of the same machine corrects the prediction."""
    nearby_sources: Array
    """Number of sources with nearby evidence."""
    doubt: Array
    """Doubt of the prediction, which the spread of its group multiplies to its range."""
    before: Modelled | None = None
    """Modelled steps before own runs corrected them, or None if no run did."""


class Estimates(NamedTuple):
    """Tokens/s or images/s per accelerator with 80 and 90 % ranges. The arrays run along the configurations."""

    tokens_per_s_per_gpu: Array
    low_80: Array
    high_80: Array
    low_90: Array
    high_90: Array
    groups: tuple[str, ...]
    cautious: Array
    """Rate for ranking options, which is lower for a more uncertain configuration."""
    nearby_sources: Array
    """Number of sources with nearby evidence."""
    place: UpdatePoints
    """Labels, parts of the step and expected errors, which determine the causes of an error."""


@dataclass(frozen=True)
class StepModel(Generic[OfPhysics]):
    """Functions of one physics that an estimate needs."""

    sample: Callable[[Sequence[Observation]], FitSample[OfPhysics]]
    step: Callable[[Fit, OfPhysics, Sequence[Labels]], tuple[Array, dict[str, Array]]]
    """Return ln of the modelled step seconds, with the effects of labels, and the shares of the parts."""
    features: Callable[[OfPhysics], Array]
    """Return the coordinates of configurations, in units of the distance at which settings inform little."""
    expected_error: Callable[[OfPhysics, Sequence[Labels], dict[str, Array], KnownLabels], Array]
    groups: Callable[[OfPhysics, Sequence[Labels], KnownLabels], tuple[str, ...]]
    groups_with_own_runs: Callable[[OfPhysics], tuple[str, ...]]

    def modelled(self, fit: Fit, configs: OfPhysics, labels: Sequence[Labels], known: KnownLabels) -> Modelled:
        """Return modelled steps with their expected errors."""
        import numpy as np

        log_step, shares = self.step(fit, configs, labels)
        shares = {name: np.zeros(len(configs)) for name in PART_ERROR if name not in shares} | shares
        expected = self.expected_error(configs, labels, shares, known)
        place = UpdatePoints(labels, shares, self.features(configs), expected, spans_nodes(configs))
        nearby = count_nearby_sources(labels, place.features, known.points)
        groups, with_own = self.groups(configs, labels, known), self.groups_with_own_runs(configs)
        return Modelled(log_step, place, groups, with_own, nearby, doubt(place.expected, labels, nearby))

    def estimate(
        self, configs: OfPhysics, labels: Sequence[Labels], calibration: Calibration, own: Sequence[Observation]
    ) -> Estimates:
        """Estimate configurations and correct the answer by the user's own measurements.

        tokens/s or images/s per accelerator = tokens or images of a step / (step seconds x accelerators)
        """
        import numpy as np

        modelled = self.modelled(fitted(calibration), configs, labels, KnownLabels.of(calibration))
        if own:
            modelled = corrected(modelled, *_modelled_runs(self, tuple(own), calibration))
        return estimates(modelled, np.log(configs.units_per_step / configs.gpus), calibration.spreads)


@lru_cache(maxsize=MEASUREMENTS_KEPT)
def _modelled_runs(
    model: StepModel[Any], own: tuple[Observation, ...], calibration: Calibration
) -> tuple[Modelled, Array]:
    """Return the modelled steps of own measurements, and ln of their measured seconds."""
    data, fit, known = model.sample(own), fitted(calibration), KnownLabels.of(calibration)
    modelled = model.modelled(fit, data.configs, data.labels, known)
    return _with_kernels(modelled, fit, own, known), data.log_seconds


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


OF_TEXT = StepModel(text_sample, model_text_step, features, expected_error, groups_of, groups_with_own_runs)


def estimate_text(
    configs: Configs, labels: Sequence[Labels], calibration: Calibration, *, own: Sequence[Observation] = ()
) -> Estimates:
    """Estimate tokens/s per accelerator of text networks, corrected by `own` measurements."""
    return OF_TEXT.estimate(configs, labels, calibration, own)


def fitted(calibration: Calibration) -> Fit:
    """Return a calibration's constants and effects, with defaults for constants that older calibrations lack."""
    return Fit(ABSENT_OF_IMAGES | ABSENT | calibration.constants, calibration.effects)


def model_text(fit: Fit, configs: Configs, labels: Sequence[Labels], known: KnownLabels) -> Modelled:
    """Model steps of text networks without own measurements."""
    return OF_TEXT.modelled(fit, configs, labels, known)


def model_rows(fit: Fit, rows: Sequence[Observation], known: KnownLabels) -> Modelled:
    """Model steps of measurements. Kernels of a probe are modelled by the parts that they measure."""
    configs, labels = from_rows([row.config for row in rows]), [row.labels for row in rows]
    return _with_kernels(model_text(fit, configs, labels, known), fit, rows, known)


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


def corrected(asked: Modelled, anchors: Modelled, log_seconds: Array) -> Modelled:
    """Return modelled steps, their expected errors and their groups after own runs that took e^log_seconds.

    Kernels of a probe narrow a range but leave its group, because there is no evidence yet on ranges with probes.
    """
    import numpy as np

    posterior = update(asked.place, anchors.place, log_seconds - anchors.log_step)
    probed = anchors.place.kernels.measured
    machines = {
        (label.source, label.accelerator)
        for label, of_probe in zip(anchors.place.labels, probed, strict=True)
        if not of_probe
    }
    groups = tuple(
        own if (label.source, label.accelerator) in machines else group
        for label, own, group in zip(asked.place.labels, asked.groups_with_own, asked.groups, strict=True)
    )
    place = asked.place._replace(expected=asked.place.expected * posterior.left)
    mine = of_each(asked.place.labels, lambda label: float((label.source, label.accelerator) in machines)) > 0
    with_own = doubt_with_own_runs(place.expected, asked.place.labels)
    return asked._replace(
        log_step=asked.log_step + posterior.shift,
        place=place,
        groups=groups,
        doubt=np.where(mine, with_own, asked.doubt * posterior.left),
        before=asked,
    )


def estimates(modelled: Modelled, log_size: Array, spreads: Mapping[str, Spread]) -> Estimates:
    """Return rates with their ranges. `log_size` is ln(tokens or images of a step / accelerators).

    Own runs widen a range only if they show that their site is odd.
    """
    import numpy as np

    log_rate = log_size - modelled.log_step
    wide_80, wide_90 = half_widths(modelled.groups, modelled.doubt, spreads)
    if modelled.before is not None:
        before = modelled.before
        as_odd = modelled.place.expected > before.place.expected
        without_80, without_90 = half_widths(before.groups, before.doubt, spreads)
        wide_80 = np.where(as_odd, wide_80, np.minimum(wide_80, without_80))
        wide_90 = np.where(as_odd, wide_90, np.minimum(wide_90, without_90))
    return Estimates(
        np.exp(log_rate),
        np.exp(log_rate - wide_80),
        np.exp(log_rate + wide_80),
        np.exp(log_rate - wide_90),
        np.exp(log_rate + wide_90),
        modelled.groups,
        np.exp(log_rate - CAUTION * modelled.place.expected),
        modelled.nearby_sources,
        modelled.place,
    )
