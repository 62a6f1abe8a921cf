"""Scores the estimator of image networks on the bundled evidence and writes its part of docs/accuracy.md.

Usage: python benchmarks/image_accuracy.py [--write]; about a minute. `--write` replaces the part of docs/accuracy.md
between its two markers.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from planner.adapters.catalog import load_catalog
from planner.speed.calibration.baselines import METHODS, baseline_predictions
from planner.speed.calibration.image_accuracy import predict_image_rows, train_image_folds
from planner.speed.calibration.metrics import error_figures, overall, split_by
from planner.speed.calibration.scored_rows import ScoredRow, TrainedFold
from planner.speed.physics.planned_image_config import ImageObservation
from planner.use_cases.evidence import bundled_image_evidence
from planner.use_cases.image_evidence import of_images, shipped_image_calibration

BEGIN, END = "<!-- images: begin -->", "<!-- images: end -->"
PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
SPLITS = (("source", 0), ("source", 1), ("source", 3), ("accelerator", 0), ("family", 0), ("scale", 0))
POINTS = (
    ("V100-SXM2-16GB", "m01832"), ("V100-SXM2-16GB", "torchvision-v100-4"), ("A100-80GB-SXM", "m01828"),
    ("A100-80GB-SXM", "m01737"), ("H100-SXM", "m00653"), ("H100-SXM", "m05044"), ("H100-PCIe", "m00635"),
    ("RTX-3090", "field-0686"), ("RTX-3090", "field-0702"), ("RTX-8000-Turing", "m00545"), ("A10", "m00572"),
    ("L4", "m05205"),
)  # fmt: skip
"""ResNet-50 in mixed precision; the RTX 8000 stands for Turing, of which no T4 row states its settings."""


def main() -> None:
    """Run every split and the points."""
    evidence = of_images(bundled_image_evidence(load_catalog()))
    shipped = shipped_image_calibration()
    sources = {one.labels.source for one in evidence}
    networks = {one.labels.workload for one in evidence}
    lines = [
        f"Made on {date.today()} by `benchmarks/image_accuracy.py` from {len(evidence)} bundled measurements of "
        f"{len(networks)} networks, {len({one.labels.accelerator for one in evidence})} accelerators and "
        f"{len(sources)} sources. Errors are of images/s, in per cent.",
        "",
        "| left out | known | rows | MAPE | median | p90 | bias | in 80 % | in 90 % | half-width 90 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    unseen: dict[str, list[ScoredRow]] = {}
    folds: dict[str, list[TrainedFold]] = {}
    for split, anchors in SPLITS:
        if split not in folds:
            folds[split] = train_image_folds(evidence, [], shipped, leave_out=split, today=date.today())
        scored = predict_image_rows(evidence, folds[split], anchors=anchors)
        figures = overall(scored)
        cells = ("mape_pct", "median_ape_pct", "p90_ape_pct")
        shown = " | ".join(f"{figures[name]:.1f}" for name in cells)
        lines.append(
            f"| {split} | {anchors} | {len(scored)} | {shown} | {figures['bias_pct']:+.1f} | "
            f"{figures['coverage_80_pct']:.0f} | {figures['coverage_90_pct']:.0f} | "
            f"{figures['half_width_90_pct']:.0f} |"
        )
        unseen.setdefault(split, scored)
        print(f"{split} {anchors} done", file=sys.stderr)
    lines += [*_by_source(unseen["source"]), *_naive(unseen["source"], evidence), *_points(unseen["accelerator"])]
    text = "\n".join(lines)
    print(text)
    if "--write" in sys.argv:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def _by_source(scored: Sequence[ScoredRow]) -> list[str]:
    lines = [
        "",
        "Source by source, each left out, nothing known of it:",
        "",
        "| source | rows | MAPE | bias | in 90 % |",
    ]
    lines.append("|---|---|---|---|---|")
    for source, rows in sorted(split_by(scored, lambda row: row.observation.labels.source).items()):
        one = overall(rows)
        figures = f"{one['mape_pct']:.0f} | {one['bias_pct']:+.0f} | {one['coverage_90_pct']:.0f}"
        lines.append(f"| {source} | {len(rows)} | {figures} |")
    return lines


def _naive(scored: Sequence[ScoredRow], evidence: Sequence[ImageObservation]) -> list[str]:
    errors: dict[str, list[float]] = {name: [] for name in METHODS}
    for one in scored:
        trained_on = [evidence[place] for place in one.trained_on]
        for name, value in baseline_predictions(one.observation, trained_on).items():
            errors[name].append(value / one.observation.tokens_per_s_per_gpu - 1)
    ours = overall(scored)
    figures = {"planner": ours} | {name: error_figures(found) for name, found in errors.items()}
    names = " | ".join(name.replace("_", " ") for name in figures)
    cells = " | ".join(
        f"{one['mape_pct']:.0f} / {one['median_ape_pct']:.0f} / {one['p90_ape_pct']:.0f}" for one in figures.values()
    )
    rule = "|---" * len(figures) + "|"
    return ["", "The same rows by other means (MAPE / median / p90):", "", f"| {names} |", rule, f"| {cells} |"]


def _points(blind: Sequence[ScoredRow]) -> list[str]:
    lines = [
        "",
        "ResNet-50 in mixed precision, images/s of one accelerator. Blind: no row of the accelerator taught.",
        "",
        "| accelerator | source | framework, layout, batch | published | blind | 90 % range |",
        "|---|---|---|---|---|---|",
    ]
    by_id = {one.observation.id: one for one in blind}
    for accelerator, name in POINTS:
        one = by_id[name]
        config, labels = one.observation.config, one.observation.labels
        layout = "channels last" if config["channels_last"] == 1 else "planes"
        how = f"{labels.framework}, {layout}, {config['micro_batch']:.0f} each on {config['dp']:.0f}"
        lines.append(
            f"| {accelerator} | {labels.source}, {name} | {how} | {one.observation.tokens_per_s_per_gpu:,.0f} | "
            f"{one.predicted:,.0f} ({one.error * 100:+.0f} %) | {one.low_90:,.0f}-{one.high_90:,.0f} |"
        )
    return lines


if __name__ == "__main__":
    main()
