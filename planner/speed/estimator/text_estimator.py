"""The estimator: configurations in, tokens/s per accelerator with ranges out, one or a hundred thousand at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from planner.speed.estimator.expected_error import Known, expected_error, groups_of, groups_with_own_runs
from planner.speed.estimator.own_runs import Place, features, update
from planner.speed.estimator.ranges import half_widths
from planner.speed.estimator.text_fit import Fit, model_text_step, text_sample
from planner.speed.physics.image_parameters import ABSENT_OF_IMAGES
from planner.speed.physics.parameters import ABSENT

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration, Spread
    from planner.speed.physics.config_arrays import Array, Configs
    from planner.speed.physics.observation import Labels, Observation


class Modelled(NamedTuple):
    """What the physics says of configurations before any own run, and how wrong it expects to be."""

    log_step: Array
    """ln seconds of a step."""
    place: Place
    groups: tuple[str, ...]
    groups_with_own: tuple[str, ...]
    """Where a run of the same machine corrects them."""


class Estimates(NamedTuple):
    """Tokens/s (of image networks: images/s) per accelerator with 80 and 90 % ranges, along the configurations."""

    tokens_per_s_per_gpu: Array
    low_80: Array
    high_80: Array
    low_90: Array
    high_90: Array
    groups: tuple[str, ...]


def estimate_text(
    configs: Configs, labels: Sequence[Labels], calibration: Calibration, *, own: Sequence[Observation] = ()
) -> Estimates:
    """Estimate configurations; `own` are measurements of the user's, which correct the answer at once.

    tokens/s per accelerator = tokens of a step / (step seconds x accelerators)
    """
    import numpy as np

    known, fit = Known.of(calibration), fitted(calibration)
    modelled = model_text(fit, configs, labels, known)
    if own:
        data = text_sample(own)
        modelled = corrected(modelled, model_text(fit, data.configs, data.labels, known), data.log_seconds)
    return estimates(modelled, np.log(configs.tokens_per_step / configs.gpus), calibration.spreads)


def fitted(calibration: Calibration) -> Fit:
    """Return a calibration's constants and effects in the form in which they compute; older ones lack some."""
    return Fit(ABSENT_OF_IMAGES | ABSENT | calibration.constants, calibration.effects)


def model_text(fit: Fit, configs: Configs, labels: Sequence[Labels], known: Known) -> Modelled:
    """Return modelled steps with their expected errors, by what they consist of and what is unknown of them."""
    log_step, shares = model_text_step(fit, configs, labels)
    place = Place(labels, shares, features(configs), expected_error(configs, labels, shares, known))
    return Modelled(log_step, place, groups_of(configs, labels, known), groups_with_own_runs(configs))


def corrected(asked: Modelled, anchors: Modelled, log_seconds: Array) -> Modelled:
    """Return what own runs of so many ln seconds make of modelled steps, their expected errors and their groups."""
    posterior = update(asked.place, anchors.place, log_seconds - anchors.log_step)
    machines = {(label.source, label.accelerator) for label in anchors.place.labels}
    groups = tuple(
        mine if (label.source, label.accelerator) in machines else group
        for label, mine, group in zip(asked.place.labels, asked.groups_with_own, asked.groups, strict=True)
    )
    place = asked.place._replace(expected=asked.place.expected * posterior.left)
    return asked._replace(log_step=asked.log_step + posterior.shift, place=place, groups=groups)


def estimates(modelled: Modelled, log_size: Array, spreads: Mapping[str, Spread]) -> Estimates:
    """Return rates with their ranges; `log_size` is ln(tokens or images of a step / accelerators)."""
    import numpy as np

    log_rate = log_size - modelled.log_step
    wide_80, wide_90 = half_widths(modelled.groups, modelled.place.expected, spreads)
    return Estimates(
        np.exp(log_rate),
        np.exp(log_rate - wide_80),
        np.exp(log_rate + wide_80),
        np.exp(log_rate - wide_90),
        np.exp(log_rate + wide_90),
        modelled.groups,
    )
