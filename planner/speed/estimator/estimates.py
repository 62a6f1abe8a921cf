"""Modelled steps, their correction by the user's own runs, and the rates with ranges that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from planner.speed.estimator.doubt import doubt_with_own_runs
from planner.speed.estimator.own_runs import UpdatePoints, update
from planner.speed.estimator.ranges import half_widths
from planner.speed.physics.observation import of_each

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Spread
    from planner.speed.physics.config_arrays import Array

CAUTION = 1.6449
"""Number of expected errors by which a rate is lowered for ranking: the 95th percentile of normal errors."""


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
