"""Scores the estimator and the baselines on the bundled evidence, split by split; writes docs/accuracy/*.csv.

Usage: python benchmarks/text_accuracy.py [--write] [--peers-alone] [split ...]; a split takes one to five minutes.
All rows are predicted, also those that calibrate nothing. `--write` writes the tables (`benchmarks/accuracy_tables.py`)
and the headline of docs/accuracy.md. llm-analysis is asked for the fitted rows where its environment exists
(`make accuracy-peers`); `--peers-alone` runs this comparison alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import peers
from benchmarks.accuracy_tables import (
    BASELINES,
    PARTS,
    PEERS,
    SOURCES,
    SPLITS,
    Row,
    publish,
    rounded,
)
from benchmarks.scored_tables import baseline_rows, by_source, part_rows, split_row
from planner.adapters.catalog import load_catalog
from planner.adapters.evidence import evidence_files, read_calibration, read_measurements
from planner.model.catalog import Catalog
from planner.speed.calibration.accuracy import LEAVE_OUT, train_text_folds
from planner.speed.calibration.metrics import macro, overall, ranking, regret, split_by
from planner.speed.calibration.scored_rows import ScoredRow, TrainedFold, predict_folds
from planner.speed.physics.observation import Observation
from planner.use_cases.published.evidence import observations_of, of_text

ANCHORS = {"source": (0, 1, 3, 5), "family": (0, 3), "model": (0, 3), "scale": (0,), "precision": (0, 3)}
IN_PARTS = (0, 1, 3)
WORST = 10
LARGE_GROUP = 150
TEXT = {"network": "text"}
FITTED, ALL = "fitted", "all"

Scored = dict[tuple[str, int, str], list[ScoredRow]]
"""Scored rows by split, number of known runs, and kind of rows."""


def main() -> None:
    """Run the named splits, or all of them."""
    splits = [name for name in sys.argv[1:] if not name.startswith("-")] or list(LEAVE_OUT)
    every = observations(load_catalog())
    scored = _score(splits, every, peers_alone="--peers-alone" in sys.argv)
    compared = peers.table(
        {split: rows for (split, known, rows_are), rows in scored.items() if (known, rows_are) == (0, FITTED)},
        [observation for observation in every if observation.in_fit],
    )
    tables = {} if "--peers-alone" in sys.argv else _tables(scored, every)
    if isinstance(compared, str):
        print(compared, file=sys.stderr)
    else:
        tables[PEERS] = compared
    publish(tables, "text", write="--write" in sys.argv)


def observations(catalog: Catalog) -> list[Observation]:
    """Return every bundled measurement of text that can be predicted, including those without calibration."""
    rows = [row for path in evidence_files() for row in read_measurements(path)]
    return sorted(
        of_text(observations_of(rows, catalog)[0]), key=lambda observation: (observation.labels.source, observation.id)
    )


def _score(splits: list[str], every: list[Observation], *, peers_alone: bool) -> Scored:
    scored: Scored = {}
    for split in splits:
        folds = train_text_folds(every, every, read_calibration(), leave_out=split, today=date.today())
        fitted = [_of_fitted(fold, every) for fold in folds]
        for known in (0,) if peers_alone else ANCHORS[split]:
            scored[split, known, FITTED] = predict_folds(every, fitted, anchors=known)
            if not peers_alone:
                scored[split, known, ALL] = predict_folds(every, folds, anchors=known)
        print(f"{split} done", file=sys.stderr)
    return scored


def _of_fitted(fold: TrainedFold, every: Sequence[Observation]) -> TrainedFold:
    return replace(fold, places=tuple(place for place in fold.places if every[place].in_fit))


def _tables(scored: Scored, every: Sequence[Observation]) -> dict[str, list[Row]]:
    tables: dict[str, list[Row]] = {
        SPLITS: [split_row("text", *key, rows) for key, rows in scored.items()],
        BASELINES: [
            row
            for (split, known, rows_are), rows in scored.items()
            if known == 0
            for row in baseline_rows("text", split, rows_are, rows, every)
        ],
        "choices": [
            _choices(split, rows) for (split, known, which), rows in scored.items() if (known, which) == (0, FITTED)
        ],
        "groups": [row for key, rows in scored.items() if key[2] == FITTED for row in _groups(*key[:2], rows)],
    }
    if ("source", 0, ALL) in scored:
        unseen = scored["source", 0, ALL]
        tables["worst"] = _worst([row for row in unseen if row.observation.in_fit])
        tables[SOURCES] = by_source("text", unseen)
        tables[PARTS] = [row for known in IN_PARTS for row in part_rows("text", known, scored["source", known, ALL])]
    return tables


def _worst(scored: list[ScoredRow]) -> list[Row]:
    """Return the worst errors with the row's own source held out."""
    return [
        {
            "row": row.observation.id,
            "source": row.observation.labels.source,
            "accelerator": row.observation.labels.accelerator,
            "workload": row.observation.labels.workload,
            "measured_tokens_per_s": f"{row.observation.tokens_per_s_per_gpu:.0f}",
            "predicted_tokens_per_s": f"{row.predicted:.0f}",
        }
        for row in sorted(scored, key=lambda row: -abs(row.error))[:WORST]
    ]


def _choices(split: str, scored: Sequence[ScoredRow]) -> Row:
    """Return how often the faster of two options is found, by their gap, and the regret of following predictions."""
    right = {
        f"right_{gap}_pct": "" if share is None else f"{share * 100:.0f}" for gap, share in ranking(scored).items()
    }
    costs = {f"regret_{name}": "" if value is None else f"{value:.1f}" for name, value in regret(scored).items()}
    return TEXT | {"left_out": split} | right | costs


def _groups(split: str, known: int, scored: Sequence[ScoredRow]) -> list[Row]:
    """Return the coverage and the width of ranges of the large groups."""
    return [
        TEXT
        | {"left_out": split, "runs_known": known, "group": name, "rows": len(rows)}
        | rounded(overall(rows), only=("coverage_80_pct", "coverage_90_pct", "half_width_90_pct"))
        | {f"{key}_over_sources": value for key, value in rounded(macro(rows), only=("coverage_90_pct",)).items()}
        for name, rows in split_by(scored, lambda row: row.group).items()
        if len(rows) >= LARGE_GROUP
    ]


if __name__ == "__main__":
    main()
