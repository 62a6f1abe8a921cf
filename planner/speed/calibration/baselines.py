"""Naive methods to compare with: scale a measurement by a ratio of hardware, or assume a share of the peak."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.speed.physics.observation import Observation

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


def baseline_predictions(asked: Observation, evidence: Sequence[Observation]) -> dict[str, float]:
    """Return tokens/s per accelerator by each naive method.

    constant_mfu: median share of the peak on this accelerator and format or, without such evidence, on all.
    peak_ratio, bandwidth_ratio, geometric_mean_ratio: rate of the evidence with the closest workload x ratio of peaks,
    of memory bandwidths, and their geometric mean.
    """
    flops = train_flops_per_token(asked.config)
    predictions = {"constant_mfu": _constant_mfu(asked, evidence) * asked.config["peak"] / flops}
    reference = min(evidence, key=lambda measured: _distance(asked, measured), default=None)
    if reference is None:
        return predictions
    base = reference.tokens_per_s_per_gpu * train_flops_per_token(reference.config) / flops
    peak = asked.config["peak"] / reference.config["peak"]
    bandwidth = asked.config["hbm"] / reference.config["hbm"]
    return predictions | {
        "peak_ratio": base * peak,
        "bandwidth_ratio": base * bandwidth,
        "geometric_mean_ratio": base * (peak * bandwidth) ** 0.5,
    }


def _constant_mfu(asked: Observation, evidence: Sequence[Observation]) -> float:
    def shares(rows: Iterable[Observation]) -> list[float]:
        return [row.tokens_per_s_per_gpu * train_flops_per_token(row.config) / row.config["peak"] for row in rows]

    same_machine = (
        row
        for row in evidence
        if row.labels.accelerator == asked.labels.accelerator and row.config["peak"] == asked.config["peak"]
    )
    return statistics.median(shares(same_machine) or shares(evidence) or [USUAL_SHARE_OF_PEAK])


def _distance(asked: Observation, measured: Observation) -> float:
    """Return a distance of workloads by size, length, method and accelerator."""
    size = math.log(train_flops_per_token(asked.config) / train_flops_per_token(measured.config))
    length = math.log(asked.config["seq_len"] / measured.config["seq_len"])
    method = 3.0 * (asked.config["adapters"] != measured.config["adapters"])
    accelerator = 0.0 if asked.labels.accelerator == measured.labels.accelerator else 0.3
    return abs(size) + 0.3 * abs(length) + method + accelerator
