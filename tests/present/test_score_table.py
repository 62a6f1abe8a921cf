"""The score of `planner accuracy` on a screen."""

from __future__ import annotations

from typing import Any

from planner.present.score_table import score_facts, score_rows

FIGURES = {
    "mape_pct": 12.34, "median_ape_pct": 5.0, "p90_ape_pct": 30.0, "bias_pct": 1.26, "coverage_80_pct": 85.71,
    "coverage_90_pct": 92.9, "half_width_90_pct": 41.25,
}  # fmt: skip
NONE: dict[str, Any] = dict.fromkeys(FIGURES)
MACRO = FIGURES | {"sources": 38.0, "coverage_90_low_pct": 81.6, "coverage_90_high_pct": 97.1}
SCORE: dict[str, Any] = {
    "rows": 5,
    "predicted": 3,
    "skipped": {"accelerator not known": 2},
    "overall": FIGURES,
    "macro": NONE,
    "parts": {
        "stated, evidence near": {"rows": 2, "macro": MACRO},
        "something left open": {"rows": 0, "macro": NONE},
    },
    "baselines": {"peak_ratio": {"mape_pct": 121.0, "median_ape_pct": 36.0, "p90_ape_pct": 278.0, "bias_pct": -9.0}},
    "ranking": {"gap_10_20": 0.8125, "gap_20_50": None, "gap_over_50": 1.0},
    "regret": {"median_pct": 0.0, "p95_pct": 23.28},
}


def test_a_row_for_each_way_to_predict() -> None:
    ours, over_sources, near, naive = score_rows(SCORE)
    assert list(ours.values()) == ["the planner", "12.3", "5.0", "30.0", "+1.3", "85.7", "92.9", "41.2"]
    assert set(list(over_sources.values())[1:]) == {"-"}
    assert list(near.values()) == ["- stated, evidence near", "12.3", "5.0", "30.0", "+1.3", "85.7", "92.9", "41.2"]
    assert list(naive.values()) == ["ratio of peaks", "121.0", "36.0", "278.0", "-9.0", "-", "-", "-"]


def test_what_the_rows_do_not_say() -> None:
    assert score_facts(SCORE) == [
        "3 of 5 rows predicted",
        "2 skipped: accelerator not known",
        "the faster of two options: 81 % right at a gap of 10 to 20 %, 100 % right at a gap of over 50 %",
        "following costs 0.0 % in the median and 23.3 % or more in one case of 20",
    ]


def test_nothing_to_choose_from_is_not_mentioned() -> None:
    silent = SCORE | {
        "ranking": dict.fromkeys(SCORE["ranking"]),
        "regret": {"median_pct": None, "p95_pct": None},
        "macro": MACRO,
        "skipped": {},
    }
    assert score_facts(silent) == [
        "3 of 5 rows predicted",
        "averaged over 38 sources, 93 % lie in the 90 % range (82 to 97 by the binomial interval)",
    ]
