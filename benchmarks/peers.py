"""Other planners on the rows that ours is scored on. They live in an environment of their own: `make accuracy-peers`.

llm-analysis drags an old transformers in, so it is never installed beside the planner: `build/accuracy-peers`, or the
interpreter that LLM_ANALYSIS names.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.speed.calibration.scored_rows import ScoredRow
from planner.speed.physics.observation import Observation

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ROOT / "build" / "accuracy-peers"
WORKER = Path(__file__).with_name("peer_llm_analysis.py")
HOW_TO = "not run: make accuracy-peers builds its environment"


def interpreter() -> Path | None:
    """Return the Python that has llm-analysis; None where there is none."""
    named = os.environ.get("LLM_ANALYSIS")
    python = Path(named) if named else ENVIRONMENT / "bin" / "python"
    return python if python.exists() else None


def ask(observations: Sequence[Observation]) -> dict[str, Any] | str:
    """Return what llm-analysis says of every observation, and how fast it is; or why it says nothing."""
    python = interpreter()
    if python is None:
        return HOW_TO
    rows = [{"id": one.id, "config": one.config} for one in observations]
    done = subprocess.run(
        [str(python), str(WORKER)], input=json.dumps({"rows": rows}), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        return f"failed: {done.stderr.strip()[-300:]}"
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def compared(split: str, scored: Sequence[ScoredRow], answer: dict[str, Any]) -> str:
    """Return one row of the table: both on the rows of a split that llm-analysis answers.

    Calibrated: its prediction times the median of measured / predicted over the rows of the same accelerator that
    taught ours, which are of other sources (families, models, ...) than the row; 1 where there is none.
    """
    predicted: dict[str, float] = answer["predicted"]
    both = [one for one in scored if one.observation.id in predicted]
    ratios: dict[tuple[str, str], float] = {}
    for one in both:
        label = one.observation.labels
        ratios[one.observation.id, label.accelerator] = (
            one.observation.tokens_per_s_per_gpu / predicted[one.observation.id]
        )
    ours = [_error(one.predicted, one) for one in both]
    plain = [_error(predicted[one.observation.id], one) for one in both]
    calibrated = [_error(predicted[one.observation.id] * _scale(one, both, ratios), one) for one in both]
    cells = [
        f"{statistics.mean(e):.1f} / {statistics.median(e):.1f} / {_p90(e):.1f}" for e in (ours, plain, calibrated)
    ]
    return f"| {split} | {len(both)} | {' | '.join(cells)} |"


def _scale(one: ScoredRow, both: Sequence[ScoredRow], ratios: dict[tuple[str, str], float]) -> float:
    label = one.observation.labels
    known = [
        ratios[other.observation.id, other.observation.labels.accelerator]
        for other in both
        if other.observation.labels.accelerator == label.accelerator and other.observation.labels.source != label.source
    ]
    return statistics.median(known) if known else 1.0


def _error(value: float, one: ScoredRow) -> float:
    return abs(value / one.observation.tokens_per_s_per_gpu - 1) * 100


def _p90(errors: Sequence[float]) -> float:
    return sorted(errors)[min(len(errors) - 1, int(0.9 * len(errors)))]


def table(unseen: dict[str, list[ScoredRow]], evidence: Sequence[Observation]) -> list[str]:
    """Return the lines of docs/accuracy.md on llm-analysis, for every split that was run with no run known."""
    answer = ask(evidence)
    if isinstance(answer, str):
        return [f"llm-analysis: {answer}.", ""]
    lines = [
        f"llm-analysis {answer['version']} on identical rows, nothing known of what is left out (MAPE / median / p90). "
        f"It answers {len(answer['predicted'])} of {len(evidence)} rows; refused: {_reasons(answer['refused'])}. "
        'By "calibrated" its answers are multiplied by the median of measured / predicted on the same accelerator in '
        "other sources.",
        "",
        "| left out | rows | planner | llm-analysis, efficiency 0.5 | llm-analysis, calibrated per accelerator |",
        "|---|---|---|---|---|",
        *(row for split, scored in unseen.items() for row in _rows(split, scored, answer)),
    ]
    return [*lines, ""]


def _rows(split: str, scored: list[ScoredRow], answer: dict[str, Any]) -> list[str]:
    """Compare on all rows, and on those of full training: llm-analysis knows no adapters."""
    full = [one for one in scored if not one.observation.config["adapters"]]
    rows = [compared(split, scored, answer)]
    return rows if len(full) in (0, len(scored)) else [*rows, compared(f"{split}, full training alone", full, answer)]


def _reasons(refused: dict[str, str]) -> str:
    counts: dict[str, int] = {}
    for reason in refused.values():
        short = reason.split("(")[0].strip()
        counts[short] = counts.get(short, 0) + 1
    return (
        ", ".join(f"{reason}: {count}" for reason, count in sorted(counts.items(), key=lambda item: -item[1])) or "none"
    )
