"""The comparison with other planners: the same rows for both, calibrated on other sources alone."""

from __future__ import annotations

import pytest

from benchmarks import peers
from planner.speed.calibration.scored_rows import ScoredRow
from planner.speed.physics.observation import Labels, Observation


def scored(name: str, source: str, *, measured: float, predicted: float) -> ScoredRow:
    labels = Labels(accelerator="A100", generation="ampere", framework="any", source=source, workload="any")
    row = Observation(name, {"adapters": 0.0}, labels, measured, 1.0)
    return ScoredRow(row, predicted, predicted, predicted, predicted, predicted, "any", 0.0, ())


ROWS = [
    scored("a", "one", measured=100.0, predicted=110.0),
    scored("b", "two", measured=100.0, predicted=80.0),
    scored("refused", "two", measured=100.0, predicted=500.0),
]


def test_both_are_scored_on_the_rows_that_both_answer() -> None:
    """Ours: 10 and 20 %. Theirs: 50 and 60 %. Calibrated: a by b's 100/40 is 125, b by a's 100/50 is 80."""
    rows = peers.compared("source", "all", ROWS, {"predicted": {"a": 50.0, "b": 40.0}})
    assert [(row["rows"], row["mape_pct"], row["median_ape_pct"], row["p90_ape_pct"]) for row in rows] == [
        (2, "15.0", "15.0", "20.0"),
        (2, "55.0", "55.0", "60.0"),
        (2, "22.5", "22.5", "25.0"),
    ]


def test_without_its_environment_it_says_how_to_make_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_ANALYSIS", "/nowhere/python")
    assert "make accuracy-peers" in peers.table({}, [])
