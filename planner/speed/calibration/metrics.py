"""Scores of predictions: errors, coverage of ranges, right choices, regret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.speed.calibration.scored_rows import ScoredRow

GAPS = (("gap_10_20", 0.10, 0.20), ("gap_20_50", 0.20, 0.50), ("gap_over_50", 0.50, float("inf")))
OPTIONS = 3
"""Smallest number of options that counts as a choice."""

Figures = dict[str, float | None]


def overall(rows: Sequence[ScoredRow]) -> Figures:
    """Return errors, coverage of ranges and the half width of the 90 % range, in per cent of the measured value."""
    import numpy as np

    if not rows:
        return dict.fromkeys(
            ("mape_pct", "median_ape_pct", "p90_ape_pct", "bias_pct", "coverage_80_pct", "coverage_90_pct",
             "half_width_90_pct")
        )  # fmt: skip
    errors = np.array([row.error for row in rows])
    measured = np.array([row.observation.tokens_per_s_per_gpu for row in rows])
    inside_80 = [row.low_80 <= value <= row.high_80 for row, value in zip(rows, measured, strict=True)]
    inside_90 = [row.low_90 <= value <= row.high_90 for row, value in zip(rows, measured, strict=True)]
    widths = [(row.high_90 / row.low_90) ** 0.5 - 1 for row in rows]
    return error_figures(errors.tolist()) | {
        "coverage_80_pct": _percent(np.mean(inside_80)),
        "coverage_90_pct": _percent(np.mean(inside_90)),
        "half_width_90_pct": _percent(np.median(widths)),
    }


def error_figures(errors: Sequence[float]) -> Figures:
    """Return mean, median and 90th percentile of absolute errors, and the mean error, in per cent."""
    import numpy as np

    if not errors:
        return dict.fromkeys(("mape_pct", "median_ape_pct", "p90_ape_pct", "bias_pct"))
    size = np.abs(errors)
    return {
        "mape_pct": _percent(size.mean()),
        "median_ape_pct": _percent(np.median(size)),
        "p90_ape_pct": _percent(np.quantile(size, 0.9)),
        "bias_pct": _percent(np.mean(errors)),
    }


def split_by(rows: Sequence[ScoredRow], key: Callable[[ScoredRow], str]) -> dict[str, list[ScoredRow]]:
    """Gather rows that share a key, in the order of their first row."""
    split: dict[str, list[ScoredRow]] = {}
    for row in rows:
        split.setdefault(key(row), []).append(row)
    return split


def ranking(rows: Sequence[ScoredRow]) -> Figures:
    """Return the share of pairs of options whose faster one is predicted correctly, by the measured gap.

    Options are measurements of one workload in one source. Rates are per accelerator, as a buyer compares them.
    """
    right = {name: [0, 0] for name, _, _ in GAPS}
    for options in _choices(rows):
        for pair in combinations(options, 2):
            slow, fast = sorted(pair, key=lambda row: row.observation.tokens_per_s_per_gpu)
            gap = fast.observation.tokens_per_s_per_gpu / slow.observation.tokens_per_s_per_gpu - 1
            for name, low, high in GAPS:
                if low < gap <= high:
                    right[name][0] += fast.predicted > slow.predicted
                    right[name][1] += 1
    return {name: round(hits / count, 4) if count else None for name, (hits, count) in right.items()}


def regret(rows: Sequence[ScoredRow]) -> Figures:
    """Return the loss from following predictions: speed of the best option / speed of the chosen one - 1."""
    import numpy as np

    lost = []
    for options in _choices(rows):
        if len(options) < OPTIONS:
            continue
        chosen = max(options, key=lambda row: row.predicted)
        best = max(row.observation.tokens_per_s_per_gpu for row in options)
        lost.append(best / chosen.observation.tokens_per_s_per_gpu - 1)
    if not lost:
        return {"median_pct": None, "p95_pct": None}
    return {"median_pct": _percent(np.median(lost)), "p95_pct": _percent(np.quantile(lost, 0.95))}


def groups(rows: Sequence[ScoredRow]) -> list[dict[str, Any]]:
    """Return the scores of every group, source, accelerator and framework."""
    keys: tuple[tuple[str, Callable[[ScoredRow], str]], ...] = (
        ("group", lambda row: row.group),
        ("source", lambda row: row.observation.labels.source),
        ("accelerator", lambda row: row.observation.labels.accelerator),
        ("framework", lambda row: row.observation.labels.framework),
    )
    return [
        {"by": by, "name": name, "rows": len(members)} | overall(members)
        for by, key in keys
        for name, members in sorted(split_by(rows, key).items(), key=lambda item: -len(item[1]))
    ]


def _choices(rows: Sequence[ScoredRow]) -> list[list[ScoredRow]]:
    def same_work(row: ScoredRow) -> str:
        labels, config = row.observation.labels, row.observation.config
        return f"{labels.source}|{labels.workload}|{config['seq_len']:g}|{config['adapters']:g}"

    return list(split_by(rows, same_work).values())


def _percent(value: Any) -> float:
    return round(float(value) * 100, 3)
