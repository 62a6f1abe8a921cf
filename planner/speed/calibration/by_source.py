"""Figures averaged over sources. Each source weighs alike, regardless of its number of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.model.evidence.source_site import is_set_aside
from planner.speed.calibration.metrics import Figures, error_figures, overall, split_by
from planner.speed.calibration.practice_fit import NORMAL_90

if TYPE_CHECKING:
    from planner.speed.calibration.scored_rows import ScoredRow

ENOUGH_NEARBY = 1.0
"""Number of nearby sources from which evidence counts as near."""


def macro(rows: Sequence[ScoredRow]) -> Figures:
    """Average the figures over sources, and add the 90 % binomial interval (Wilson) of the coverage."""
    sources = list(split_by(rows, lambda row: row.observation.labels.source).values())
    figures = _mean([overall(group) for group in sources], overall(()))
    coverage = figures["coverage_90_pct"]
    low, high = (None, None) if coverage is None else wilson_90(coverage / 100, len(sources))
    return figures | {
        "sources": float(len(sources)),
        "coverage_90_low_pct": None if low is None else round(100 * low, 3),
        "coverage_90_high_pct": None if high is None else round(100 * high, 3),
    }


def macro_errors(errors: Sequence[tuple[str, float]]) -> Figures:
    """Average error figures over sources."""
    groups: dict[str, list[float]] = {}
    for source, error in errors:
        groups.setdefault(source, []).append(error)
    return _mean([error_figures(group) for group in groups.values()], error_figures(()))


def parts(rows: Sequence[ScoredRow]) -> dict[str, list[ScoredRow]]:
    """Return rows of sources that are set aside for choices of method, and rows by what determines a range's width."""
    nothing, usual, decisive = (
        [row for row in rows if row.observation.labels.left_open == level] for level in range(3)
    )
    return {
        "sources set aside": [row for row in rows if is_set_aside(row.observation.labels.source)],
        "all stated, evidence near": [row for row in nothing if row.nearby_sources >= ENOUGH_NEARBY],
        "all stated": nothing,
        "usual settings assumed": usual,
        "what decides left open": decisive,
    }


def wilson_90(share: float, count: int) -> tuple[float, float]:
    """Return the 90 % interval of a share of `count` cases. Source: Wilson 1927."""
    squared = NORMAL_90**2
    centre = (share + squared / (2 * count)) / (1 + squared / count)
    half = NORMAL_90 / (1 + squared / count) * math.sqrt(share * (1 - share) / count + squared / (4 * count**2))
    return centre - half, centre + half


def _mean(figures: Sequence[Figures], empty: Figures) -> Figures:
    means: Figures = {}
    for name in empty:
        known = [value for figure in figures if (value := figure[name]) is not None]
        means[name] = round(sum(known) / len(known), 3) if known else None
    return means
