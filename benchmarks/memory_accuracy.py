"""Scores the memory model on published peaks, each source left out; writes docs/accuracy/memory_*.csv and a picture.

Usage: python benchmarks/memory_accuracy.py [--write]; some two minutes. It prints the constants that all sources
together give; those of planner/speed/memory/constants.py are these, rounded, where counting gives no figure.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from scipy.optimize import minimize

from benchmarks.accuracy_tables import Row, write_table
from benchmarks.memory_peaks import (
    FREE,
    MemoryPeak,
    PeakBin,
    ScoredPeak,
    calibration_bins,
    mean_log_error,
    scaled,
    score_left_out,
)
from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.speed.memory.constants import MemoryConstants

SIZES_GIB = (6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 180, 288)
"""DeviceMemory sizes of devices that are or were sold."""
HOLD = 0.02
"""Penalty on the distance from a counted value: added to the error for a factor of e."""
FIRST_STEP, MOST_TRIES = 0.15, 300
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "memory_chance.svg"


def fit(peaks: Sequence[MemoryPeak]) -> MemoryConstants:
    """Return the constants with the least error on these peaks, with a penalty on the distance from counted values."""

    def loss(logs: Sequence[float]) -> float:
        factors = [2.718281828459045**log for log in logs]
        return mean_log_error(peaks, scaled(factors)) + HOLD * sum(log * log for log in logs)

    count = len(FREE)
    corners = [[FIRST_STEP * (place == corner) for place in range(count)] for corner in range(-1, count)]
    options = {"maxfev": MOST_TRIES, "initial_simplex": corners}
    found = minimize(loss, corners[0], method="Nelder-Mead", options=options)
    return scaled([2.718281828459045 ** float(log) for log in found.x])


def main() -> None:
    """Score, print, write."""
    peaks = read_rows(MemoryPeak, catalogs_dir() / "memory" / "peaks.csv")
    print("all sources:", {name: round(value, 2) for name, value in asdict(fit(peaks)).items()})
    scored = score_left_out(peaks, fit)
    ran = [row for row in scored if row.peak.peak_gib is not None]
    tables: dict[str, list[Row]] = {
        "memory_sources": [_figures("all", ran)]
        + [
            _figures(source, [row for row in ran if row.peak.source == source])
            for source in sorted({row.peak.source for row in ran})
        ],
        "memory_chance": [_bin(group) for group in calibration_bins(scored, SIZES_GIB)],
    }
    for name, rows in tables.items():
        print(name, *rows, sep="\n")
        if "--write" in sys.argv:
            write_table(name, rows)
    if "--write" in sys.argv:
        PICTURE.write_text(_picture(calibration_bins(scored, SIZES_GIB)), encoding="utf-8")


def _figures(source: str, scored: Sequence[ScoredPeak]) -> Row:
    errors = [peak.error for peak in scored]
    return {
        "source": source,
        "rows": len(errors),
        "mean_error_pct": round(100 * sum(map(abs, errors)) / len(errors), 1),
        "median_error_pct": round(100 * median(map(abs, errors)), 1),
        "bias_pct": round(100 * median(errors), 1),
    }


def _bin(group: PeakBin) -> Row:
    return {
        "chance_from": group.low,
        "cases": group.cases,
        "mean_chance": round(group.mean_chance, 3),
        "fitted": round(group.fitted, 3),
    }


def _picture(bins: Sequence[PeakBin]) -> str:
    """Draw the share that fitted against the predicted chance, with the line where both agree."""
    import vl_convert

    chart = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 320,
        "height": 320,
        "layer": [
            {
                "data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]},
                "mark": {"type": "line", "strokeDash": [4, 4], "color": "#888"},
                "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
            },
            {
                "data": {
                    "values": [{"x": group.mean_chance, "y": group.fitted, "cases": group.cases} for group in bins]
                },
                "mark": {"type": "point", "filled": True, "size": 70},
                "encoding": {
                    "x": {"field": "x", "type": "quantitative", "title": "chance to fit that was given"},
                    "y": {"field": "y", "type": "quantitative", "title": "share that fitted"},
                },
            },
            {
                "data": {
                    "values": [{"x": group.mean_chance, "y": group.fitted, "n": f"{group.cases:,}"} for group in bins]
                },
                "mark": {"type": "text", "align": "left", "dx": 8, "dy": 4},
                "encoding": {
                    "x": {"field": "x", "type": "quantitative"},
                    "y": {"field": "y", "type": "quantitative"},
                    "text": {"field": "n"},
                },
            },
        ],
    }
    return str(vl_convert.vegalite_to_svg(chart, allowed_base_urls=[]))


if __name__ == "__main__":
    main()
