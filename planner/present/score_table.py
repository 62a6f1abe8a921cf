"""Writes the score of `planner accuracy`: a row per method of prediction, and the cost of choices in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.present.table import NOT_KNOWN, Row

COLUMNS = {
    "mape_pct": "MAPE",
    "median_ape_pct": "median",
    "p90_ape_pct": "p90",
    "bias_pct": "bias",
    "coverage_80_pct": "in 80 %",
    "coverage_90_pct": "in 90 %",
    "half_width_90_pct": "half-width 90",
}
"""Titles of the columns, all in percent."""
GAPS = {"gap_10_20": "10 to 20 %", "gap_20_50": "20 to 50 %", "gap_over_50": "over 50 %"}
WAYS = {
    "peak_ratio": "ratio of peaks",
    "bandwidth_ratio": "ratio of memory bandwidths",
    "geometric_mean_ratio": "geometric mean of both",
    "constant_mfu": "constant MFU",
}


def score_rows(score: Mapping[str, Any]) -> list[Row]:
    """Return the planner's figures over all rows, averaged over sources, and by part, then those of naive methods.

    The figures of a part are averaged over its sources.
    """
    ways = {"the planner": score["overall"], "the planner, over sources": score["macro"]}
    ways |= {f"- {name}": part["macro"] for name, part in score["parts"].items() if part["rows"]}
    ways |= {WAYS.get(name, name): figures for name, figures in score["baselines"].items()}
    return [
        {"per cent": way} | {title: _shown(figures, key) for key, title in COLUMNS.items()}
        for way, figures in ways.items()
    ]


def score_facts(score: Mapping[str, Any]) -> list[str]:
    """Return in words the number of predicted rows, the reasons for skipping others, and the quality of choices."""
    facts = [f"{score['predicted']} of {score['rows']} rows predicted"]
    facts += [f"{count} skipped: {reason}" for reason, count in score["skipped"].items()]
    over = score["macro"]
    if over["coverage_90_pct"] is not None:
        facts.append(
            f"averaged over {over['sources']:.0f} sources, {over['coverage_90_pct']:.0f} % lie in the 90 % range "
            f"({over['coverage_90_low_pct']:.0f} to {over['coverage_90_high_pct']:.0f} by the binomial interval)"
        )
    right = [
        f"{100 * score['ranking'][gap]:.0f} % right at a gap of {name}"
        for gap, name in GAPS.items()
        if score["ranking"][gap] is not None
    ]
    if right:
        facts.append(f"the faster of two options: {', '.join(right)}")
    if score["regret"]["median_pct"] is not None:
        usual, rare = score["regret"]["median_pct"], score["regret"]["p95_pct"]
        facts.append(f"following costs {usual:.1f} % in the median and {rare:.1f} % or more in one case of 20")
    return [*facts, *_whole_facts(score.get("whole_trainings"))]


def _whole_facts(score: Mapping[str, Any] | None) -> list[str]:
    """Return in words how whole trainings compare with the hours of their plans; empty if there are none."""
    if score is None:
        return []
    facts = [f"{score['predicted']} of {score['rows']} whole trainings predicted, of {score['sources']} sources"]
    if score["middle"] is not None:
        facts.append(
            f"they took {score['middle']:.2f} times the hours of their plans in the middle of the sources; "
            f"{100 * score['coverage']:.0f} % lie in the 90 % range, averaged by source"
        )
    return facts


def _shown(figures: Mapping[str, float | None], key: str) -> str:
    value = figures.get(key)
    return NOT_KNOWN if value is None else f"{value:+.1f}" if key == "bias_pct" else f"{value:.1f}"
