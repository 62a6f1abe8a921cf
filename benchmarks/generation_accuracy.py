"""Scores the physics of decoding on published steps, each accelerator left out; writes docs/accuracy/decoding.csv.

Usage: python benchmarks/generation_accuracy.py [--write]; some two minutes. It prints the constants that all rows of
vLLM and SGLang give together; those of planner/speed/generation/engine.py are these, rounded. Rows of TensorRT-LLM are
predicted and never fitted.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from scipy.optimize import minimize

from benchmarks.accuracy_tables import write_table
from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.speed.calibration.decoding_fit import (
    FREE,
    STARTING,
    DecodingCase,
    DecodingMeasurement,
    decoding_cases,
    mean_log_error,
    scaled,
)
from planner.speed.generation.engine import EngineConstants
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.networks import find_architecture

FITTED_ENGINES = ("vllm", "sglang")
HOLD = 0.01
"""Penalty on the distance from a starting value: added to the error for a factor of e."""
TRIES = 400


def fit(cases: Sequence[DecodingCase]) -> EngineConstants:
    """Return the constants with the least mean error on these cases."""

    def loss(logs: Sequence[float]) -> float:
        return mean_log_error(cases, scaled(logs)) + HOLD * sum(log * log for log in logs)

    found = minimize(loss, [0.0] * len(FREE), method="Nelder-Mead", options={"maxfev": TRIES})
    return scaled([float(log) for log in found.x])


def main() -> None:
    """Score, print, write."""
    catalog = open_catalog()
    rows = read_rows(DecodingMeasurement, catalogs_dir() / "generation" / "decoding.csv")
    names = {row.network for row in rows}
    networks = {name: find_architecture(name, catalog).architecture for name in names}
    cases = decoding_cases(rows, networks, catalog.accelerators)
    fitted = [case for case in cases if case.row.engine in FITTED_ENGINES]
    print("all rows:", {name: round(value, 3) for name, value in asdict(fit(fitted)).items()})
    groups: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for gpu in sorted({case.row.gpu for case in cases}):
        constants = fit([case for case in fitted if case.row.gpu != gpu])
        for case in cases:
            if case.row.gpu == gpu:
                key = (gpu, case.row.kind, case.row.engine)
                groups[key].append((case.log_ratio(STARTING), case.log_ratio(constants)))
    table = [_line(key, pairs) for key, pairs in sorted(groups.items())]
    everything = [pair for pairs in groups.values() for pair in pairs]
    table.append(_line(("all", "", ""), everything))
    for line in table:
        print(line)
    if "--write" in sys.argv:
        write_table("decoding", table)


def _line(key: tuple[str, str, str], pairs: Sequence[tuple[float, float]]) -> dict[str, object]:
    """Return the errors of a group: with the starting constants, and with constants fitted without its accelerator."""
    before, left_out = (list(logs) for logs in zip(*pairs, strict=True))
    off = sorted(abs(log) for log in left_out)
    return {
        "gpu": key[0], "kind": key[1], "engine": key[2], "rows": len(pairs),
        "before_median_ratio": round(math.exp(median(before)), 2),
        "before_median_error": round(math.exp(median(abs(log) for log in before)) - 1, 3),
        "left_out_median_ratio": round(math.exp(median(left_out)), 2),
        "left_out_median_error": round(math.exp(median(off)) - 1, 3),
        "left_out_p90_error": round(math.exp(off[int(0.9 * (len(off) - 1))]) - 1, 3),
    }  # fmt: skip


if __name__ == "__main__":
    main()
