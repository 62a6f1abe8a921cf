"""Scores the estimator and the naive methods on the bundled evidence, split by split, and writes docs/accuracy.md.

Usage: python benchmarks/text_accuracy.py [--write] [--peers-alone] [split ...]; a split takes one to three minutes.
`--write` replaces the part of docs/accuracy.md between its two markers. llm-analysis is asked for the same rows where
its environment exists (`make accuracy-peers`), between markers of its own; `--peers-alone` writes these alone.
"""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import peers
from planner.adapters.catalog import load_catalog
from planner.adapters.evidence import evidence_files, read_calibration, read_measurements
from planner.speed.calibration.scored_rows import ScoredRow
from planner.speed.calibration.text_accuracy import LEAVE_OUT, predict_text_rows, train_text_folds
from planner.use_cases.evidence import accuracy_document, bundled_evidence

PEERS = ("<!-- peers: begin -->", "<!-- peers: end -->")
BEGIN, END = "<!-- accuracy: begin -->", "<!-- accuracy: end -->"
PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
ANCHORS = {"source": (0, 1, 3, 5), "family": (0, 3), "model": (0, 3), "scale": (0,), "precision": (0, 3)}
WORST = 10


def main() -> None:
    """Run the splits that are named, or all."""
    wanted = [name for name in sys.argv[1:] if not name.startswith("-")] or list(LEAVE_OUT)
    catalog = load_catalog()
    evidence = bundled_evidence(catalog)
    rows = [row for path in evidence_files() for row in read_measurements(path)]
    lines = [
        f"Made on {date.today()} by `benchmarks/text_accuracy.py` from {len(evidence)} bundled measurements of "
        f"{len({one.labels.source for one in evidence})} sources. Errors are of tokens/s per accelerator, in per cent.",
        "",
    ]
    documents: list[tuple[str, int, dict[str, Any]]] = []
    worst: list[ScoredRow] = []
    unseen: dict[str, list[ScoredRow]] = {}
    alone = "--peers-alone" in sys.argv
    for split in wanted:
        folds = train_text_folds(evidence, evidence, read_calibration(), leave_out=split, today=date.today())
        for anchors in (0,) if alone else ANCHORS[split]:
            scored = predict_text_rows(evidence, folds, anchors=anchors)
            if anchors == 0:
                unseen[split] = scored
            documents.append((split, anchors, accuracy_document(len(rows), [], scored, evidence, split, anchors)))
            if (split, anchors) == ("source", 0):
                worst = sorted(scored, key=lambda one: -abs(one.error))[:WORST]
        print(f"{split} done", file=sys.stderr)
    beside = peers.table(unseen, evidence)
    lines += _worst(worst) + _splits(documents) + _naive(documents) + _groups(documents)
    print("\n".join(beside if alone else [*lines, *beside]))
    if "--write" in sys.argv:
        _write(PEERS, [f"Made on {date.today()} by `make accuracy-peers`.", "", *beside])
        if not alone:
            _write((BEGIN, END), lines)


def _write(markers: tuple[str, str], lines: list[str]) -> None:
    """Replace what stands between two markers of docs/accuracy.md."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(markers[0])
    text = "\n".join(lines).rstrip("\n")
    PAGE.write_text(f"{before}{markers[0]}\n{text}\n{markers[1]}{rest.partition(markers[1])[2]}", encoding="utf-8")


def _worst(worst: list[ScoredRow]) -> list[str]:
    lines = [
        "The ten worst misses with the row's own source left out:",
        "",
        "| row | source | accelerator | workload | measured | predicted |",
        "|---|---|---|---|---|---|",
    ]
    for one in worst:
        label = one.observation.labels
        measured = one.observation.tokens_per_s_per_gpu
        lines.append(
            f"| {one.observation.id} | {label.source} | {label.accelerator} | {label.workload} | {measured:,.0f} | "
            f"{one.predicted:,.0f} |"
        )
    return [*lines, ""]


def _splits(documents: list[tuple[str, int, dict[str, Any]]]) -> list[str]:
    lines = [
        "| left out | known | rows | MAPE | median | p90 | bias | over sources | in 80 % | in 90 % | half-width 90 |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for split, anchors, found in documents:
        one = found["overall"]
        lines.append(
            f"| {split} | {anchors} | {found['predicted']} | {one['mape_pct']:.1f} | {one['median_ape_pct']:.1f} | "
            f"{one['p90_ape_pct']:.1f} | {one['bias_pct']:+.1f} | {found['macro']['mape_pct'] or float('nan'):.1f} | "
            f"{one['coverage_80_pct']:.0f} | {one['coverage_90_pct']:.0f} | {one['half_width_90_pct']:.0f} |"
        )
    return [*lines, ""]


def _naive(documents: list[tuple[str, int, dict[str, Any]]]) -> list[str]:
    lines = [
        "The same rows by other means, nothing known of the source (MAPE / median / p90), and choices:",
        "",
        "| left out | planner | peak ratio | bandwidth ratio | both | constant MFU | right of two at a gap of 10-20, "
        "20-50, over 50 % | regret: median, p95 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for split, anchors, found in documents:
        if anchors:
            continue
        methods = [found["overall"], *(found["baselines"][name] for name in found["baselines"])]
        order = [methods[0], *(found["baselines"][name] for name in
                 ("peak_ratio", "bandwidth_ratio", "geometric_mean_ratio", "constant_mfu"))]  # fmt: skip
        cells = [f"{m['mape_pct']:.0f} / {m['median_ape_pct']:.0f} / {m['p90_ape_pct']:.0f}" for m in order]
        right = ", ".join("-" if value is None else f"{value:.0%}" for value in found["ranking"].values())
        lost = ", ".join("-" if value is None else f"{value:.1f}" for value in found["regret"].values())
        lines.append(f"| {split} | {' | '.join(cells)} | {right} | {lost} |")
    return [*lines, ""]


def _groups(documents: list[tuple[str, int, dict[str, Any]]]) -> list[str]:
    lines = [
        "Groups of 150 rows and more, whose 90 % range should hold 85 to 95 % of them:",
        "",
        "| left out | runs known | group | rows | in 80 % | in 90 % | half-width 90 |",
        "|---|---|---|---|---|---|---|",
    ]
    for split, anchors, found in documents:
        for group in found["groups"]:
            if group["by"] == "group" and group["rows"] >= 150:
                lines.append(
                    f"| {split} | {anchors} | {group['name']} | {group['rows']} | {group['coverage_80_pct']:.0f} | "
                    f"{group['coverage_90_pct']:.0f} | {group['half_width_90_pct']:.0f} |"
                )
    return lines


if __name__ == "__main__":
    main()
