"""Scores other planners on the same rows, in an environment of their own: `make accuracy-peers`.

llm-analysis needs an old transformers, so it is never installed with the planner. Its environment is
`build/accuracy-peers`, or the interpreter in LLM_ANALYSIS.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.accuracy_tables import CALIBRATED, Row, three
from planner.speed.calibration.scored_rows import ScoredRow
from planner.speed.physics.observation import Observation

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ROOT / "build" / "accuracy-peers"
WORKER = Path(__file__).with_name("peer_llm_analysis.py")
HOW_TO = "not run: make accuracy-peers builds its environment"


def interpreter() -> Path | None:
    """Return the Python with llm-analysis; None if there is none."""
    named = os.environ.get("LLM_ANALYSIS")
    python = Path(named) if named else ENVIRONMENT / "bin" / "python"
    return python if python.exists() else None


def ask(observations: Sequence[Observation]) -> dict[str, Any] | str:
    """Return llm-analysis' predictions of the observations and its speed, or the reason why there are none."""
    python = interpreter()
    if python is None:
        return HOW_TO
    rows = [{"id": observation.id, "config": observation.config} for observation in observations]
    done = subprocess.run(
        [str(python), str(WORKER)], input=json.dumps({"rows": rows}), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        return f"failed: {done.stderr.strip()[-300:]}"
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def compared(split: str, rows_are: str, scored: Sequence[ScoredRow], answer: dict[str, Any]) -> list[Row]:
    """Return the errors of the planner and of llm-analysis on the rows of a split that llm-analysis answers.

    Calibrated means its prediction x the median of measured / predicted over rows of the same accelerator from other
    sources; 1 if there are none.
    """
    predicted: dict[str, float] = answer["predicted"]
    both = [row for row in scored if row.observation.id in predicted]
    ratios: dict[tuple[str, str], float] = {}
    for row in both:
        label = row.observation.labels
        ratios[row.observation.id, label.accelerator] = (
            row.observation.tokens_per_s_per_gpu / predicted[row.observation.id]
        )
    errors = {
        "planner": [_error(row.predicted, row) for row in both],
        "llm-analysis, efficiency 0.5": [_error(predicted[row.observation.id], row) for row in both],
        CALIBRATED: [_error(predicted[row.observation.id] * _scale(row, both, ratios), row) for row in both],
    }
    return [
        {"left_out": split, "rows_are": rows_are, "rows": len(both), "method": method}
        | three(
            {
                "mape_pct": statistics.mean(misses),
                "median_ape_pct": statistics.median(misses),
                "p90_ape_pct": _p90(misses),
            },
            1,
        )
        for method, misses in errors.items()
    ]


def _scale(row: ScoredRow, both: Sequence[ScoredRow], ratios: dict[tuple[str, str], float]) -> float:
    label = row.observation.labels
    known = [
        ratios[other.observation.id, other.observation.labels.accelerator]
        for other in both
        if other.observation.labels.accelerator == label.accelerator and other.observation.labels.source != label.source
    ]
    return statistics.median(known) if known else 1.0


def _error(value: float, row: ScoredRow) -> float:
    return abs(value / row.observation.tokens_per_s_per_gpu - 1) * 100


def _p90(errors: Sequence[float]) -> float:
    return sorted(errors)[min(len(errors) - 1, int(0.9 * len(errors)))]


def table(unseen: dict[str, list[ScoredRow]], evidence: Sequence[Observation]) -> list[Row] | str:
    """Return the table of every split without known runs, or the reason why there is none."""
    answer = ask(evidence)
    if isinstance(answer, str):
        return f"llm-analysis: {answer}."
    refused = Counter(reason.split("(")[0].strip() for reason in answer["refused"].values())
    print(
        f"llm-analysis {answer['version']} answers {len(answer['predicted'])} of {len(evidence)} rows; "
        f"refused: {dict(refused.most_common())}",
        file=sys.stderr,
    )
    return [row for split, scored in unseen.items() for row in _rows(split, scored, answer)]


def _rows(split: str, scored: list[ScoredRow], answer: dict[str, Any]) -> list[Row]:
    """Compare on all rows, and on those of full training, because llm-analysis has no adapters."""
    full = [row for row in scored if not row.observation.config["adapters"]]
    rows = compared(split, "all", scored, answer)
    return rows if len(full) in (0, len(scored)) else [*rows, *compared(split, "full training", full, answer)]
