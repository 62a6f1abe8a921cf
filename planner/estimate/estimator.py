"""The estimator: configurations in, tokens/s per accelerator with ranges out, one or a hundred thousand at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from planner.estimate.calibrate import Fit, model_step, sample
from planner.estimate.expected_error import Known, expected_error, groups_of, groups_with_own_runs
from planner.estimate.own_runs import Place, features, update
from planner.estimate.ranges import half_widths

if TYPE_CHECKING:
    from planner.estimate.observation import Labels, Observation
    from planner.estimate.physics.configs import Array, Configs
    from planner.model.calibration import Calibration


class Estimates(NamedTuple):
    """Tokens/s per accelerator with 80 and 90 % ranges; arrays run along the configurations."""

    tokens_per_s_per_gpu: Array
    low_80: Array
    high_80: Array
    low_90: Array
    high_90: Array
    groups: tuple[str, ...]


def estimate_many(
    configs: Configs, labels: Sequence[Labels], calibration: Calibration, *, own: Sequence[Observation] = ()
) -> Estimates:
    """Estimate configurations; `own` are measurements of the user's, which correct the answer at once.

    tokens/s per accelerator = tokens of a step / (step seconds x accelerators)
    """
    import numpy as np

    known = Known.of(calibration)
    log_step, shares = model_step(fitted(calibration), configs, labels)
    expected = expected_error(configs, labels, shares, known)
    groups: Sequence[str] = groups_of(configs, labels, known)
    if own:
        asked = Place(labels, shares, features(configs), expected)
        log_step, expected = _with_own_runs(asked, log_step, calibration, own)
        groups = where_own(labels, groups_with_own_runs(configs), groups, (one.labels for one in own))
    log_rate = np.log(configs.tokens_per_step / configs.gpus) - log_step
    wide_80, wide_90 = half_widths(groups, expected, calibration.spreads)
    return Estimates(
        np.exp(log_rate),
        np.exp(log_rate - wide_80),
        np.exp(log_rate + wide_80),
        np.exp(log_rate - wide_90),
        np.exp(log_rate + wide_90),
        tuple(groups),
    )


def fitted(calibration: Calibration) -> Fit:
    """Return a calibration's constants and effects in the form in which they compute."""
    return Fit(calibration.constants, calibration.effects)


def where_own(
    labels: Sequence[Labels], seen: Sequence[str], groups: Sequence[str], own: Iterable[Labels]
) -> tuple[str, ...]:
    """Name predictions by `seen` where an own run is of the same machine, by their `groups` elsewhere."""
    machines = {(label.source, label.accelerator) for label in own}
    return tuple(
        mine if (label.source, label.accelerator) in machines else group
        for label, mine, group in zip(labels, seen, groups, strict=True)
    )


def _with_own_runs(
    asked: Place, log_step: Array, calibration: Calibration, own: Sequence[Observation]
) -> tuple[Array, Array]:
    """Return what own runs make of logarithmic step times and of their expected errors."""
    data = sample(own)
    modelled, shares = model_step(fitted(calibration), data.configs, data.labels)
    expected = expected_error(data.configs, data.labels, shares, Known.of(calibration))
    anchors = Place(data.labels, shares, features(data.configs), expected)
    posterior = update(asked, anchors, data.log_seconds - modelled)
    return log_step + posterior.shift, asked.expected * posterior.left
