"""Scores the estimator of image networks on the bundled evidence; writes its rows of docs/accuracy/*.csv.

Usage: python benchmarks/image_accuracy.py [--write]; about a minute. `--write` writes the tables
(`benchmarks/accuracy_tables.py`) and the headline of docs/accuracy.md.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.accuracy_tables import Row, publish
from benchmarks.scored_tables import baseline_rows, by_source, part_rows, split_row
from planner.adapters.catalog import load_catalog
from planner.adapters.evidence import evidence_files, read_measurements
from planner.speed.calibration.accuracy import train_image_folds
from planner.speed.calibration.scored_rows import ScoredRow, TrainedFold, predict_folds
from planner.use_cases.published.accuracy import shipped_image_calibration
from planner.use_cases.published.evidence import observations_of, of_images

SPLITS = (("source", 0), ("source", 1), ("source", 3), ("accelerator", 0), ("family", 0), ("scale", 0))
POINTS = (
    ("V100-SXM2-16GB", "m01832"), ("V100-SXM2-16GB", "torchvision-v100-4"), ("A100-80GB-SXM", "m01828"),
    ("A100-80GB-SXM", "m01737"), ("H100-SXM", "m00653"), ("H100-SXM", "m05044"), ("H100-PCIe", "m00635"),
    ("RTX-3090", "field-0686"), ("RTX-3090", "field-0702"), ("RTX-8000-Turing", "m00545"), ("A10", "m00572"),
    ("L4", "m05205"),
)  # fmt: skip
"""Rows of ResNet-50 in mixed precision. The RTX 8000 represents Turing, because no T4 row states its settings."""


def main() -> None:
    """Run every split and the points."""
    rows = [row for path in evidence_files() for row in read_measurements(path)]
    every = of_images(observations_of(rows, load_catalog())[0])
    shipped = shipped_image_calibration()
    scored: dict[tuple[str, int, str], list[ScoredRow]] = {}
    folds: dict[str, list[TrainedFold]] = {}
    for split, known in SPLITS:
        if split not in folds:
            folds[split] = train_image_folds(every, [], shipped, leave_out=split, today=date.today())
        fitted = [
            replace(fold, places=tuple(place for place in fold.places if every[place].in_fit)) for fold in folds[split]
        ]
        scored[split, known, "fitted"] = predict_folds(every, fitted, anchors=known)
        scored[split, known, "all"] = predict_folds(every, folds[split], anchors=known)
        print(f"{split} {known} done", file=sys.stderr)
    unseen = scored["source", 0, "all"]
    tables: dict[str, list[Row]] = {
        "splits": [split_row("images", *key, rows) for key, rows in scored.items()],
        "parts": [row for known in (0, 1, 3) for row in part_rows("images", known, scored["source", known, "all"])],
        "sources": by_source("images", unseen),
        "baselines": [
            row
            for which in ("fitted", "all")
            for row in baseline_rows("images", "source", which, scored["source", 0, which], every)
        ],
        "image_points": _points(scored["accelerator", 0, "all"]),
    }
    publish(tables, "images", write="--write" in sys.argv)


def _points(unseen: Sequence[ScoredRow]) -> list[Row]:
    """Return images/s per accelerator of ResNet-50 in mixed precision, with all rows of the accelerator held out."""
    by_id = {row.observation.id: row for row in unseen}
    rows: list[Row] = []
    for accelerator, name in POINTS:
        point = by_id[name]
        config, labels = point.observation.config, point.observation.labels
        rows.append(
            {
                "accelerator": accelerator,
                "source": labels.source,
                "row": name,
                "framework": labels.framework,
                "layout": "channels last" if config["channels_last"] == 1 else "planes",
                "micro_batch": f"{config['micro_batch']:.0f}",
                "accelerators": f"{config['dp']:.0f}",
                "published_images_per_s": f"{point.observation.tokens_per_s_per_gpu:.0f}",
                "predicted_images_per_s": f"{point.predicted:.0f}",
                "error_pct": f"{point.error * 100:+.0f}",
                "low_90": f"{point.low_90:.0f}",
                "high_90": f"{point.high_90:.0f}",
            }
        )
    return rows


if __name__ == "__main__":
    main()
