"""Scores the estimator and the baselines on the bundled evidence, split by split; writes docs/accuracy/*.csv.

Usage: python benchmarks/text_accuracy.py [--write] [--peers-alone] [split ...]; a split takes one to three minutes, and
so does `all_rows`, which also predicts the rows that calibrate nothing. `--write` writes the tables of all splits
(`benchmarks/accuracy_tables.py`) and the headline of docs/accuracy.md. llm-analysis is asked for the same rows where
its environment exists (`make accuracy-peers`); `--peers-alone` runs this comparison alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import peers
from benchmarks.accuracy_tables import (
    ALL_ROWS,
    BASELINES,
    PEERS,
    SPLITS,
    Row,
    replace_rows,
    rounded,
    three,
    write_headline,
    write_table,
)
from planner.adapters.catalog import load_catalog
from planner.adapters.evidence import evidence_files, read_calibration, read_measurements
from planner.model.catalog import Catalog
from planner.speed.calibration.metrics import error_figures, split_by
from planner.speed.calibration.scored_rows import ScoredRow
from planner.speed.calibration.text_accuracy import LEAVE_OUT, predict_text_rows, train_text_folds
from planner.speed.physics.observation import Observation
from planner.use_cases.accuracy import accuracy, accuracy_document
from planner.use_cases.evidence import bundled_evidence, observations_of, of_images

ANCHORS = {"source": (0, 1, 3, 5), "family": (0, 3), "model": (0, 3), "scale": (0,), "precision": (0, 3)}
WORST = 10
LARGE_GROUP = 150
TEXT = {"network": "text"}

Documents = list[tuple[str, int, dict[str, Any]]]


def main() -> None:
    """Run the splits that are named, or all of them and then the rows that calibrate nothing."""
    named = [name for name in sys.argv[1:] if not name.startswith("-")]
    splits = [name for name in named if name != ALL_ROWS] if named else list(LEAVE_OUT)
    catalog = load_catalog()
    tables: dict[str, list[Row]] = {}
    if splits:
        tables = _score(splits, bundled_evidence(catalog), peers_alone="--peers-alone" in sys.argv)
    if ALL_ROWS in named or not named:
        document = accuracy(None, catalog, anchors=0, leave_out="source", today=date.today())
        tables |= score_all_rows(document, observations(catalog))
    for name, rows in tables.items():
        print(name, *rows, sep="\n")
        if "--write" in sys.argv:
            if name in (SPLITS, BASELINES):
                replace_rows(name, rows, network="text")
            else:
                write_table(name, rows)
    if "--write" in sys.argv:
        write_headline()


def _score(splits: list[str], evidence: list[Observation], *, peers_alone: bool) -> dict[str, list[Row]]:
    documents: Documents = []
    unseen: dict[str, list[ScoredRow]] = {}
    for split in splits:
        folds = train_text_folds(evidence, evidence, read_calibration(), leave_out=split, today=date.today())
        for anchors in (0,) if peers_alone else ANCHORS[split]:
            scored = predict_text_rows(evidence, folds, anchors=anchors)
            if anchors == 0:
                unseen[split] = scored
            documents.append((split, anchors, accuracy_document(len(evidence), [], scored, evidence, split, anchors)))
        print(f"{split} done", file=sys.stderr)
    compared = peers.table(unseen, evidence)
    if isinstance(compared, str):
        print(compared, file=sys.stderr)
    beside: dict[str, list[Row]] = {} if isinstance(compared, str) else {PEERS: compared}
    if peers_alone:
        return beside
    worst = {"worst": _worst(unseen["source"])} if "source" in unseen else {}
    return {
        SPLITS: _splits(documents),
        BASELINES: _baselines(documents),
        "choices": _choices(documents),
        "groups": _groups(documents),
        **worst,
        **beside,
    }


def observations(catalog: Catalog) -> list[Observation]:
    """Return every bundled measurement that can be predicted, also those that calibrate nothing."""
    rows = [row for path in evidence_files() for row in read_measurements(path)]
    return observations_of(rows, catalog)[0]


def score_all_rows(document: dict[str, Any], rows: Sequence[Observation]) -> dict[str, list[Row]]:
    """Return three tables: fitted, excluded and all rows of text and images; every source; the baselines on all."""
    images = {one.id for one in of_images(rows)}
    sources = {one.id: one.labels.source for one in rows}
    fitted = {one.id for one in rows if one.in_fit}
    predictions = document["predictions"]
    every: list[Row] = []
    by_source: list[Row] = []
    for network in ("text", "images"):
        asked = [each for each in predictions if (each["id"] in images) == (network == "images")]
        used = [each for each in asked if each["id"] in fitted]
        excluded = [each for each in asked if each["id"] not in fitted]
        for kind, some in (("fitted", used), ("excluded", excluded), ("all", asked)):
            count = {"rows": len(some), "sources": len({sources[each["id"]] for each in some})}
            every.append({"network": network, "rows_are": kind} | count | rounded(_figures(some)))
        for source, some in sorted(split_by(asked, lambda each: sources[each["id"]]).items()):
            count = {"rows": len(some), "fitted_rows": sum(each["id"] in fitted for each in some)}
            by_source.append({"network": network, "source": source} | count | rounded(_figures(some)))
    methods = [("planner", document["overall"]), *document["baselines"].items()]
    beside: list[Row] = [{"method": method} | three(figures, 0) for method, figures in methods]
    return {ALL_ROWS: every, "sources": by_source, "all_rows_baselines": beside}


def _figures(predictions: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    """Score predictions of a document as `overall` scores those in memory."""
    import numpy as np

    inside = [each["low_90"] <= each["measured"] <= each["high_90"] for each in predictions]
    widths = [(each["high_90"] / each["low_90"]) ** 0.5 - 1 for each in predictions]
    return error_figures([each["predicted"] / each["measured"] - 1 for each in predictions]) | {
        "coverage_90_pct": float(np.mean(inside)) * 100,
        "half_width_90_pct": float(np.median(widths)) * 100,
    }


def _worst(scored: list[ScoredRow]) -> list[Row]:
    """Return the worst misses with the row's own source held out."""
    return [
        {
            "row": one.observation.id,
            "source": one.observation.labels.source,
            "accelerator": one.observation.labels.accelerator,
            "workload": one.observation.labels.workload,
            "measured_tokens_per_s": f"{one.observation.tokens_per_s_per_gpu:.0f}",
            "predicted_tokens_per_s": f"{one.predicted:.0f}",
        }
        for one in sorted(scored, key=lambda one: -abs(one.error))[:WORST]
    ]


def _splits(documents: Documents) -> list[Row]:
    return [
        TEXT
        | {"left_out": split, "runs_known": anchors, "rows": document["predicted"]}
        | rounded(document["overall"] | {"mape_over_sources_pct": document["macro"]["mape_pct"]})
        for split, anchors, document in documents
    ]


def _baselines(documents: Documents) -> list[Row]:
    """Return what the planner and the baselines miss by on the same rows, no run of theirs known."""
    return [
        TEXT | {"left_out": split, "method": method} | three(figures, 0)
        for split, anchors, document in documents
        if not anchors
        for method, figures in [("planner", document["overall"]), *document["baselines"].items()]
    ]


def _choices(documents: Documents) -> list[Row]:
    """Return how often the faster of two options is found, by the gap between them, and what following costs."""
    return [
        {"left_out": split}
        | {f"right_{gap}_pct": "" if share is None else f"{share * 100:.0f}" for gap, share in one["ranking"].items()}
        | {f"regret_{name}": "" if value is None else f"{value:.1f}" for name, value in one["regret"].items()}
        for split, anchors, one in documents
        if not anchors
    ]


def _groups(documents: Documents) -> list[Row]:
    """Return the large groups, whose 90 % range should hold 85 to 95 % of their rows."""
    return [
        {"left_out": split, "runs_known": anchors, "group": group["name"], "rows": group["rows"]}
        | {name: f"{group[name]:.0f}" for name in ("coverage_80_pct", "coverage_90_pct", "half_width_90_pct")}
        for split, anchors, document in documents
        for group in document["groups"]
        if group["by"] == "group" and group["rows"] >= LARGE_GROUP
    ]


if __name__ == "__main__":
    main()
