"""Figures averaged over sources: each source weighs alike, and coverage has its binomial interval."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.model.evidence.source_site import is_set_aside
from planner.speed.calibration.metrics import macro, macro_errors, parts, wilson_90
from planner.speed.calibration.scored_rows import ScoredRow
from tests.bundled import text_rows


def scored(source: str, error: float, *, inside: bool, nearby: float = 0.0, left_open: int = 0) -> ScoredRow:
    row = text_rows()[0]
    row = replace(row, labels=replace(row.labels, source=source, left_open=left_open))
    rate = row.tokens_per_s_per_gpu
    low, high = (0.5 * rate, 2 * rate) if inside else (2 * rate, 8 * rate)
    return ScoredRow(row, rate * (1 + error), low, high, low, high, "any", nearby, ())


def test_a_source_of_many_rows_weighs_as_one_of_one() -> None:
    rows = [scored("a", 0.1, inside=True)] * 9 + [scored("b", 0.5, inside=False)]
    found = macro(rows)
    assert found["mape_pct"] == pytest.approx(30)
    assert found["coverage_90_pct"] == pytest.approx(50)
    assert found["half_width_90_pct"] == pytest.approx(100)
    assert found["sources"] == 2
    low, high = wilson_90(0.5, 2)
    assert (found["coverage_90_low_pct"], found["coverage_90_high_pct"]) == pytest.approx(
        (100 * low, 100 * high), abs=1e-3
    )


def test_errors_alone_are_averaged_over_sources_too() -> None:
    assert macro_errors([("a", 0.1)] * 9 + [("b", 0.5)])["mape_pct"] == pytest.approx(30)
    assert macro_errors([])["mape_pct"] is None


def test_without_rows_there_is_no_figure() -> None:
    found = macro([])
    assert found["sources"] == 0
    assert found["coverage_90_pct"] is found["coverage_90_low_pct"] is found["mape_pct"] is None


def test_rows_are_divided_by_what_their_source_states() -> None:
    rows = [
        scored("meta-llama/llama-3", 0.1, inside=True, nearby=1.5),
        scored("microsoft/phi-2", 0.1, inside=True, nearby=0.5),
        scored("microsoft/phi-2", 0.1, inside=True, nearby=2.0, left_open=2),
        scored("microsoft/phi-2", 0.1, inside=True, nearby=2.0, left_open=1),
    ]
    assert is_set_aside("meta-llama/llama-3")
    assert {name: [rows.index(row) for row in some] for name, some in parts(rows).items()} == {
        "sources set aside": [0],
        "all stated, evidence near": [0],
        "all stated": [0, 1],
        "usual settings assumed": [3],
        "what decides left open": [2],
    }
