"""Scores of predictions: errors, coverage, right choices, regret, figures by source; and naive methods."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from planner.model.evidence.source_site import is_set_aside
from planner.speed.calibration.practice_fit import NORMAL_90

if TYPE_CHECKING:
    from planner.speed.calibration.scored_rows import ScoredRow
    from planner.speed.physics.observation import Observation

GAPS = (("gap_10_20", 0.10, 0.20), ("gap_20_50", 0.20, 0.50), ("gap_over_50", 0.50, float("inf")))
OPTIONS = 3
"""Smallest number of options that counts as a choice."""

Figures = dict[str, float | None]


def overall(rows: Sequence[ScoredRow]) -> Figures:
    """Return errors, coverage of ranges and the half width of the 90 % range, in per cent of the measured value."""
    import numpy as np

    if not rows:
        return dict.fromkeys(
            ("mape_pct", "median_ape_pct", "p90_ape_pct", "bias_pct", "coverage_80_pct", "coverage_90_pct",
             "half_width_90_pct")
        )  # fmt: skip
    errors = np.array([row.error for row in rows])
    measured = np.array([row.observation.tokens_per_s_per_gpu for row in rows])
    inside_80 = [row.low_80 <= value <= row.high_80 for row, value in zip(rows, measured, strict=True)]
    inside_90 = [row.low_90 <= value <= row.high_90 for row, value in zip(rows, measured, strict=True)]
    widths = [(row.high_90 / row.low_90) ** 0.5 - 1 for row in rows]
    return error_figures(errors.tolist()) | {
        "coverage_80_pct": _percent(np.mean(inside_80)),
        "coverage_90_pct": _percent(np.mean(inside_90)),
        "half_width_90_pct": _percent(np.median(widths)),
    }


def error_figures(errors: Sequence[float]) -> Figures:
    """Return mean, median and 90th percentile of absolute errors, and the mean error, in per cent."""
    import numpy as np

    if not errors:
        return dict.fromkeys(("mape_pct", "median_ape_pct", "p90_ape_pct", "bias_pct"))
    size = np.abs(errors)
    return {
        "mape_pct": _percent(size.mean()),
        "median_ape_pct": _percent(np.median(size)),
        "p90_ape_pct": _percent(np.quantile(size, 0.9)),
        "bias_pct": _percent(np.mean(errors)),
    }


def split_by(rows: Sequence[ScoredRow], key: Callable[[ScoredRow], str]) -> dict[str, list[ScoredRow]]:
    """Gather rows that share a key, in the order of their first row."""
    split: dict[str, list[ScoredRow]] = {}
    for row in rows:
        split.setdefault(key(row), []).append(row)
    return split


def ranking(rows: Sequence[ScoredRow]) -> Figures:
    """Return the share of pairs of options whose faster one is predicted correctly, by the measured gap.

    Options are measurements of one workload in one source. Rates are per accelerator, as a buyer compares them.
    """
    right = {name: [0, 0] for name, _, _ in GAPS}
    for options in _choices(rows):
        for pair in combinations(options, 2):
            slow, fast = sorted(pair, key=lambda row: row.observation.tokens_per_s_per_gpu)
            gap = fast.observation.tokens_per_s_per_gpu / slow.observation.tokens_per_s_per_gpu - 1
            for name, low, high in GAPS:
                if low < gap <= high:
                    right[name][0] += fast.predicted > slow.predicted
                    right[name][1] += 1
    return {name: round(hits / count, 4) if count else None for name, (hits, count) in right.items()}


def regret(rows: Sequence[ScoredRow]) -> Figures:
    """Return the loss from following predictions: speed of the best option / speed of the chosen one - 1."""
    import numpy as np

    lost = []
    for options in _choices(rows):
        if len(options) < OPTIONS:
            continue
        chosen = max(options, key=lambda row: row.predicted)
        best = max(row.observation.tokens_per_s_per_gpu for row in options)
        lost.append(best / chosen.observation.tokens_per_s_per_gpu - 1)
    if not lost:
        return {"median_pct": None, "p95_pct": None}
    return {"median_pct": _percent(np.median(lost)), "p95_pct": _percent(np.quantile(lost, 0.95))}


def groups(rows: Sequence[ScoredRow]) -> list[dict[str, Any]]:
    """Return the scores of every group, source, accelerator and framework."""
    keys: tuple[tuple[str, Callable[[ScoredRow], str]], ...] = (
        ("group", lambda row: row.group),
        ("source", lambda row: row.observation.labels.source),
        ("accelerator", lambda row: row.observation.labels.accelerator),
        ("framework", lambda row: row.observation.labels.framework),
    )
    return [
        {"by": by, "name": name, "rows": len(members)} | overall(members)
        for by, key in keys
        for name, members in sorted(split_by(rows, key).items(), key=lambda item: -len(item[1]))
    ]


def _choices(rows: Sequence[ScoredRow]) -> list[list[ScoredRow]]:
    def same_work(row: ScoredRow) -> str:
        labels, config = row.observation.labels, row.observation.config
        return f"{labels.source}|{labels.workload}|{config['seq_len']:g}|{config['adapters']:g}"

    return list(split_by(rows, same_work).values())


def _percent(value: Any) -> float:
    return round(float(value) * 100, 3)


ENOUGH_NEARBY = 1.0
"""Number of nearby sources from which evidence counts as near."""


def macro(rows: Sequence[ScoredRow]) -> Figures:
    """Average the figures over sources, and add the 90 % binomial interval (Wilson) of the coverage."""
    sources = list(split_by(rows, lambda row: row.observation.labels.source).values())
    figures = _mean([overall(group) for group in sources], overall(()))
    coverage = figures["coverage_90_pct"]
    low, high = (None, None) if coverage is None else wilson_90(coverage / 100, len(sources))
    return figures | {
        "sources": float(len(sources)),
        "coverage_90_low_pct": None if low is None else round(100 * low, 3),
        "coverage_90_high_pct": None if high is None else round(100 * high, 3),
    }


def macro_errors(errors: Sequence[tuple[str, float]]) -> Figures:
    """Average error figures over sources."""
    groups: dict[str, list[float]] = {}
    for source, error in errors:
        groups.setdefault(source, []).append(error)
    return _mean([error_figures(group) for group in groups.values()], error_figures(()))


def parts(rows: Sequence[ScoredRow]) -> dict[str, list[ScoredRow]]:
    """Return rows of sources that are set aside for choices of method, and rows by what determines a range's width."""
    nothing, usual, decisive = (
        [row for row in rows if row.observation.labels.left_open == level] for level in range(3)
    )
    return {
        "sources set aside": [row for row in rows if is_set_aside(row.observation.labels.source)],
        "all stated, evidence near": [row for row in nothing if row.nearby_sources >= ENOUGH_NEARBY],
        "all stated": nothing,
        "usual settings assumed": usual,
        "what decides left open": decisive,
    }


def wilson_90(share: float, count: int) -> tuple[float, float]:
    """Return the 90 % interval of a share of `count` cases. Source: Wilson 1927."""
    squared = NORMAL_90**2
    centre = (share + squared / (2 * count)) / (1 + squared / count)
    half = NORMAL_90 / (1 + squared / count) * math.sqrt(share * (1 - share) / count + squared / (4 * count**2))
    return centre - half, centre + half


def _mean(figures: Sequence[Figures], empty: Figures) -> Figures:
    means: Figures = {}
    for name in empty:
        known = [value for figure in figures if (value := figure[name]) is not None]
        means[name] = round(sum(known) / len(known), 3) if known else None
    return means


USUAL_SHARE_OF_PEAK = 0.40
METHODS = ("peak_ratio", "bandwidth_ratio", "geometric_mean_ratio", "constant_mfu")


def train_flops_per_token(config: dict[str, float]) -> float:
    """Return 6 x weights that a token uses + 12 x layers x width x length: full attention, nothing recomputed.

    For an image network, return the FLOPs of an image, which are counted by operator.
    """
    if "flops" in config:
        return config["flops"]
    attention = 2 * config["hidden"] * (config["q_dim"] + config["kv_dim"])
    mlp = config["mlp_matrices"] * config["hidden"] * config["ffn_hidden"] * config["active_experts"]
    head = config["hidden"] * config["vocab"] * config["head_share"]
    return (
        6 * (config["layers"] * (attention + mlp) + head) + 12 * config["layers"] * config["q_dim"] * config["seq_len"]
    )


def baseline_predictions(observation: Observation, evidence: Sequence[Observation]) -> dict[str, float]:
    """Return tokens/s per accelerator by each naive method.

    constant_mfu: median share of the peak on this accelerator and format or, without such evidence, on all.
    peak_ratio, bandwidth_ratio, geometric_mean_ratio: rate of the evidence with the closest workload x ratio of peaks,
    of memory bandwidths, and their geometric mean.
    """
    flops = train_flops_per_token(observation.config)
    predictions = {"constant_mfu": _constant_mfu(observation, evidence) * observation.config["peak"] / flops}
    reference = min(evidence, key=lambda measured: _distance(observation, measured), default=None)
    if reference is None:
        return predictions
    base = reference.tokens_per_s_per_gpu * train_flops_per_token(reference.config) / flops
    peak = observation.config["peak"] / reference.config["peak"]
    bandwidth = observation.config["hbm"] / reference.config["hbm"]
    return predictions | {
        "peak_ratio": base * peak,
        "bandwidth_ratio": base * bandwidth,
        "geometric_mean_ratio": base * (peak * bandwidth) ** 0.5,
    }


def _constant_mfu(observation: Observation, evidence: Sequence[Observation]) -> float:
    def shares(rows: Iterable[Observation]) -> list[float]:
        return [row.tokens_per_s_per_gpu * train_flops_per_token(row.config) / row.config["peak"] for row in rows]

    same_machine = (
        row
        for row in evidence
        if row.labels.accelerator == observation.labels.accelerator and row.config["peak"] == observation.config["peak"]
    )
    return statistics.median(shares(same_machine) or shares(evidence) or [USUAL_SHARE_OF_PEAK])


def _distance(observation: Observation, measured: Observation) -> float:
    """Return a distance of workloads by size, length, method and accelerator."""
    size = math.log(train_flops_per_token(observation.config) / train_flops_per_token(measured.config))
    length = math.log(observation.config["seq_len"] / measured.config["seq_len"])
    method = 3.0 * (observation.config["adapters"] != measured.config["adapters"])
    accelerator = 0.0 if observation.labels.accelerator == measured.labels.accelerator else 0.3
    return abs(size) + 0.3 * abs(length) + method + accelerator
