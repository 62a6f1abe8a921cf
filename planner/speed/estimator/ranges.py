"""Ranges that hold: the expected error, stretched by what held-out sources showed for predictions of the same group."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from planner.model.evidence.calibration import Spread
from planner.speed.estimator.expected_error import GROUPS, NUMBER_FORMAT, OWN_GROUPS, UNKNOWN_ERROR

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

NARROWEST = 0.02
"""No range is tighter than +-2 %: the spread between nodes of one kind is 0.6 to 2 %."""
ENOUGH_SOURCES = 8
"""Predictions that lack a label differ from source to source: fewer sources than this cannot show that their errors are
smaller than expected, however many rows they have."""
ENOUGH_ROWS = 25
"""Rows of a group that show by themselves that its errors are smaller than all others'."""
LARGE = 150
"""Rows that show that they are larger: fewer are filled up to as many with all others' errors, so that one odd table
does not set the range of a small group. From few sources they can show it where no label is lacking."""
NORMAL_80, NORMAL_90 = 1.2816, 1.6449
"""Standard deviations within which 80 and 90 % of normal errors lie: the least that such a group takes."""
LACKING = tuple(f"new {level}" for level in (*UNKNOWN_ERROR, NUMBER_FORMAT))
"""Groups of predictions that lack a label."""


def spreads(
    errors: Array, expected: Array, weights: Array, groups: Sequence[str], *, sources: Sequence[str] | None = None
) -> dict[str, Spread]:
    """Return, per group, how many expected errors hold 80 and 90 % of the held-out errors.

    The split conformal quantile, with the finite-sample correction (n + 1)/n; rows of one source weigh together. In a
    group of n < 150 rows the others weigh as 150 - n of its own, unless 25 and more show a smaller width. Where the
    rows' sources are given, a group of few of them that lacks a label or is small keeps the width of normal errors.
    Source: Lei et al. 2018, section 2; Tibshirani et al. 2019 for weights.
    """
    import numpy as np

    ratio = np.abs(errors) / expected
    every = np.ones(len(ratio), dtype=bool)
    widths = {"all": _spread(ratio, weights, every)}
    named = np.array(groups, dtype=object)
    for group in (*GROUPS, *OWN_GROUPS):
        chosen = named == group
        count = int(chosen.sum())
        if not weights[chosen].sum():
            continue
        own = _spread(ratio, _filled_up(weights, chosen), chosen)
        if ENOUGH_ROWS <= count < LARGE:
            alone = _spread(ratio, np.where(chosen, weights, 0.0), chosen)
            own = _bounded(own, min, alone.times_80, alone.times_90)
        small = group in LACKING or count < LARGE
        if sources is not None and small and _count(sources, chosen) < ENOUGH_SOURCES:
            own = _bounded(own, max, NORMAL_80, NORMAL_90)
        widths[group] = own
    return widths


def wider(one: Mapping[str, Spread], other: Mapping[str, Spread]) -> dict[str, Spread]:
    """Return the wider of two spreads of each group, so that ranges hold in both ways of choosing rows."""
    return {
        name: _bounded(spread, max, other[name].times_80, other[name].times_90) if name in other else spread
        for name, spread in one.items()
    }


def half_widths(groups: Sequence[str], expected: Array, widths: Mapping[str, Spread]) -> tuple[Array, Array]:
    """Return ln(high / value) of 80 and 90 % ranges: expected error x the group's stretch, never under 2 %."""
    import numpy as np

    times = {group: widths.get(group, widths["all"]) for group in set(groups)}
    wide_80 = np.array([times[group].times_80 for group in groups]) * expected
    wide_90 = np.array([times[group].times_90 for group in groups]) * expected
    narrow = np.maximum(math.log1p(NARROWEST), wide_80)
    return narrow, np.maximum(narrow, wide_90)


def _count(sources: Sequence[str], chosen: Array) -> int:
    return len({source for source, is_one in zip(sources, chosen, strict=True) if is_one})


def _bounded(own: Spread, choose: Callable[[float, float], float], times_80: float, times_90: float) -> Spread:
    """Return a group's spread, of each width the larger or the smaller of its own and another."""
    return Spread(rows=own.rows, times_80=choose(own.times_80, times_80), times_90=choose(own.times_90, times_90))


def _filled_up(weights: Array, chosen: Array) -> Array:
    """Return weights with which the rows that are not chosen count as those that a small group lacks."""
    import numpy as np

    count, others = int(chosen.sum()), float(weights[~chosen].sum())
    lacking = max(0, LARGE - count) / count * float(weights[chosen].sum())
    return np.where(chosen, weights, weights * (lacking / others if others else 0.0))


def _spread(ratio: Array, weights: Array, chosen: Array) -> Spread:
    return Spread(
        rows=int(chosen.sum()),
        times_80=round(_quantile(ratio, weights, 0.80), 4),
        times_90=round(_quantile(ratio, weights, 0.90), 4),
    )


def _quantile(values: Array, weights: Array, level: float) -> float:
    import numpy as np

    order = np.argsort(values)
    share = np.cumsum(weights[order]) / weights.sum()
    corrected = min(1.0, level * (1 + 1 / int((weights > 0).sum())))
    return float(values[order][min(int(np.searchsorted(share, corrected)), len(values) - 1)])
