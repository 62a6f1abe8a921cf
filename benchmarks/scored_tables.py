"""Computes rows of the tables of text and of images: figures by row and averaged by source."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.accuracy_tables import Row, rounded, three
from planner.model.evidence.source_site import is_set_aside
from planner.speed.calibration.metrics import (
    METHODS,
    baseline_predictions,
    error_figures,
    macro,
    overall,
    parts,
    split_by,
)
from planner.speed.calibration.scored_rows import ScoredRow
from planner.speed.physics.observation import Observation

OVER_SOURCES = ("mape_pct", "coverage_90_pct", "coverage_90_low_pct", "coverage_90_high_pct", "half_width_90_pct")


def split_row(network: str, left_out: str, known: int, rows_are: str, scored: Sequence[ScoredRow]) -> Row:
    """Return a split's figures by row and over sources."""
    first = {"network": network, "left_out": left_out, "runs_known": known, "rows_are": rows_are}
    return first | _figures(scored)


def part_rows(network: str, known: int, scored: Sequence[ScoredRow]) -> list[Row]:
    """Return the figures by stated settings and by distance of the evidence, with each source held out."""
    return [
        {"network": network, "runs_known": known, "part": name} | _figures(rows)
        for name, rows in parts(scored).items()
        if rows
    ]


def by_source(network: str, scored: Sequence[ScoredRow]) -> list[Row]:
    """Return the score of each source, held out and without known runs."""
    return [
        {
            "network": network,
            "source": source,
            "set_aside": "yes" if is_set_aside(source) else "no",
            "rows": len(rows),
            "fitted_rows": sum(row.observation.in_fit for row in rows),
        }
        | rounded(overall(rows))
        for source, rows in sorted(split_by(scored, lambda row: row.observation.labels.source).items())
    ]


def baseline_rows(
    network: str, left_out: str, rows_are: str, scored: Sequence[ScoredRow], evidence: Sequence[Observation]
) -> list[Row]:
    """Return the errors of the planner and of the baselines on the same rows, fitted to the same evidence."""
    errors: dict[str, list[float]] = {name: [] for name in METHODS}
    fitted: dict[tuple[int, ...], list[Observation]] = {}
    for row in scored:
        if row.trained_on not in fitted:
            fitted[row.trained_on] = [evidence[place] for place in row.trained_on]
        for name, value in baseline_predictions(row.observation, fitted[row.trained_on]).items():
            errors[name].append(value / row.observation.tokens_per_s_per_gpu - 1)
    figures = {"planner": overall(scored)} | {name: error_figures(missed) for name, missed in errors.items()}
    return [
        {"network": network, "left_out": left_out, "rows_are": rows_are, "method": method} | three(missed, 0)
        for method, missed in figures.items()
    ]


def _figures(scored: Sequence[ScoredRow]) -> dict[str, object]:
    over = macro(scored)
    shown = {f"{name}_over_sources": value for name, value in rounded(over, only=OVER_SOURCES).items()}
    return {"rows": len(scored), "sources": f"{over['sources']:.0f}"} | rounded(overall(scored)) | shown
