"""What people do without a planner: carry a measurement over by a ratio, or assume a share of the peak."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.speed.physics.observation import Observation

USUAL_SHARE_OF_PEAK = 0.40
METHODS = ("peak_ratio", "bandwidth_ratio", "geometric_mean_ratio", "constant_mfu")


def train_flops_per_token(config: dict[str, float]) -> float:
    """6 x weights that a token meets + 12 x layers x width x length: full attention, nothing recomputed.

    Of an image network, whose tokens are images: counted operator by operator.
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
    """Return tokens/s per accelerator of each naive method; the reference is the evidence with the nearest workload.

    peak_ratio: reference x ratio of peaks; bandwidth_ratio: of memory bandwidths; geometric_mean_ratio: of both;
    constant_mfu: median share of peak on this accelerator and format, else of all.
    """
    flops = train_flops_per_token(asked.config)
    predictions = {"constant_mfu": _constant_mfu(asked, evidence) * asked.config["peak"] / flops}
    reference = min(evidence, key=lambda one: _distance(asked, one), default=None)
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
    def shares(keep: Callable[[Observation], bool]) -> list[float]:
        return [
            one.tokens_per_s_per_gpu * train_flops_per_token(one.config) / one.config["peak"]
            for one in evidence
            if keep(one)
        ]

    def same_machine(one: Observation) -> bool:
        return one.labels.accelerator == asked.labels.accelerator and one.config["peak"] == asked.config["peak"]

    return statistics.median(shares(same_machine) or shares(lambda _: True) or [USUAL_SHARE_OF_PEAK])


def _distance(one: Observation, other: Observation) -> float:
    import math

    size = math.log(train_flops_per_token(one.config) / train_flops_per_token(other.config))
    length = math.log(one.config["seq_len"] / other.config["seq_len"])
    method = 3.0 * (one.config["adapters"] != other.config["adapters"])
    same = 0.0 if one.labels.accelerator == other.labels.accelerator else 0.3
    return abs(size) + 0.3 * abs(length) + method + same
