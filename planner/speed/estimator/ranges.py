"""Ranges of predictions: the doubt times a factor that held-out sources of the same group determine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner.model.evidence.calibration import Spread
from planner.speed.estimator.expected_error import GROUPS, OWN_GROUPS

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

NARROWEST = 0.02
"""Smallest half width of a range. The spread between nodes of one kind is 0.6 to 2 %."""
ENOUGH_SOURCES = 60
"""Number of sources from which a group alone determines its ranges. A smaller group is filled up with the sources of
all others, so that one odd table does not set its range."""


def spreads(errors: Array, doubts: Array, groups: Sequence[str], sources: Sequence[str]) -> dict[str, Spread]:
    """Return for each group the factors of the doubt that contain 80 and 90 % of the errors of an average source.

    The factors are split conformal quantiles of |error| / doubt at level x (n + 1) / n for n sources. The rows of a
    source weigh 1 together. In a group of n < 60 sources, all other sources weigh 60 - n together.
    Source: Lei et al. 2018, section 2; Tibshirani et al. 2019 for weights; Dunn et al. 2022 for groups.
    """
    import numpy as np

    ratio = np.abs(errors) / doubts
    every, origin = np.ones(len(ratio), dtype=bool), np.array(sources, dtype=object)
    widths = {"all": _spread(ratio, _source_weights(origin, every), every)}
    named = np.array(groups, dtype=object)
    for group in (*GROUPS, *OWN_GROUPS):
        chosen = named == group
        if chosen.any():
            weights, others = _source_weights(origin, chosen), _source_weights(origin, ~chosen)
            lacking = max(0.0, ENOUGH_SOURCES - weights.sum())
            if others.any():
                weights = weights + others * min(1.0, lacking / others.sum())
            widths[group] = _spread(ratio, weights, chosen)
    return widths


def wider(first: Mapping[str, Spread], second: Mapping[str, Spread]) -> dict[str, Spread]:
    """Return the wider of two spreads of each group, so that ranges cover both ways of choosing rows."""
    return {
        name: Spread(
            rows=spread.rows,
            times_80=max(spread.times_80, second.get(name, spread).times_80),
            times_90=max(spread.times_90, second.get(name, spread).times_90),
        )
        for name, spread in first.items()
    }


def half_widths(groups: Sequence[str], doubts: Array, widths: Mapping[str, Spread]) -> tuple[Array, Array]:
    """Return ln(high / value) of 80 and 90 % ranges: doubt x the group's factor, at least 2 %."""
    import numpy as np

    times = {group: widths.get(group, widths["all"]) for group in set(groups)}
    wide_80 = np.array([times[group].times_80 for group in groups]) * doubts
    wide_90 = np.array([times[group].times_90 for group in groups]) * doubts
    narrow = np.maximum(math.log1p(NARROWEST), wide_80)
    return narrow, np.maximum(narrow, wide_90)


def _source_weights(origin: Array, chosen: Array) -> Array:
    """Return weights with which the chosen rows of each source weigh 1 together, and all other rows 0."""
    import numpy as np

    weights = np.zeros(len(origin))
    if chosen.any():
        _, place, count = np.unique(origin[chosen].astype(str), return_inverse=True, return_counts=True)
        weights[chosen] = 1 / count[place]
    return weights


def _spread(ratio: Array, weights: Array, chosen: Array) -> Spread:
    return Spread(
        rows=int(chosen.sum()),
        times_80=round(_quantile(ratio, weights, 0.80), 4),
        times_90=round(_quantile(ratio, weights, 0.90), 4),
    )


def _quantile(values: Array, weights: Array, level: float) -> float:
    """Return the quantile of weighted values whose weights sum to the number of sources."""
    import numpy as np

    order, sources = np.argsort(values, kind="stable"), weights.sum()
    share = np.cumsum(weights[order]) / sources
    corrected = min(1.0, level * (1 + 1 / sources))
    return float(values[order][min(int(np.searchsorted(share, corrected - 1e-9)), len(values) - 1)])
