"""Runs llm-analysis in the peers' own environment: reads configurations, writes tokens/s per accelerator.

Reads one JSON document from stdin: {"rows": [{id, config}]}, with the fields of planner/speed/physics/config_arrays.py.
Writes {"version", "predicted": {id: tokens_per_s}, "refused": {id: reason}, "per_s": evaluations per second}. Memory is
unlimited, so that its own memory estimate refuses no row that really ran. FLOP rates are those of the row's number
format. Everything else is its default, with a flops_efficiency of 0.5.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from importlib.metadata import version
from typing import Any

EFFICIENCY = 0.5
UNLIMITED_GB = 1e9
TIMED = 300


def main() -> None:
    """Answer every row, then time one of them."""
    logging.disable(logging.CRITICAL)
    predicted: dict[str, float] = {}
    refused: dict[str, str] = {}
    rows = json.load(sys.stdin)["rows"]
    for row in rows:
        try:
            predicted[row["id"]] = tokens_per_s(row["config"])
        except (AssertionError, ValueError, ZeroDivisionError, TypeError) as error:
            refused[row["id"]] = str(error)[:80] or type(error).__name__
    json.dump(
        {"version": version("llm-analysis"), "predicted": predicted, "refused": refused, "per_s": evaluations_per_s()},
        sys.stdout,
    )


def tokens_per_s(config: dict[str, float]) -> float:
    """Return tokens/s of one accelerator: micro-batch x length / seconds of a micro-batch / (tensor x stages)."""
    from llm_analysis.analysis import ActivationRecomputation, DSZeRO, LLMAnalysis
    from llm_analysis.config import DtypeConfig, GPUConfig, ModelConfig, ParallelismConfig

    tensor, stages = int(config["tp"]), int(config["pp"])
    length, batch = int(config["seq_len"]), config["micro_batch"]
    if batch < 1 or batch != int(batch):
        raise ValueError("a micro-batch that is no whole number")
    heads = int(config["heads"])
    groups = max(1, round(config["q_dim"] / config["kv_dim"]))
    hidden = int(config["hidden"])
    model = ModelConfig(
        name="row",
        num_layers=int(config["layers"]),
        n_head=heads,
        hidden_dim=hidden,
        vocab_size=int(config["vocab"]),
        max_seq_len=length,
        num_key_value_heads=heads // groups,
        ffn_embed_dim=int(config["ffn_hidden"]),
        expansion_ratio=config["ffn_hidden"] / hidden,
        moe_num_experts=max(1, round(config["experts"])),
        moe_top_k=max(1, round(config["active_experts"])),
    )
    gpu = GPUConfig(
        name="row",
        mem_per_GPU_in_GB=UNLIMITED_GB,
        hbm_bandwidth_in_GB_per_sec=config["hbm"] / 1e9,
        intra_node_bandwidth_in_GB_per_sec=max(1.0, config["intra"] / 1e9),
        intra_node_min_message_latency=8e-6,
        peak_fp16_TFLOPS=config["peak"] / 1e12,
    )
    parallel = ParallelismConfig(
        tp_size=tensor, pp_size=stages, dp_size=max(1, int(config["dp"] * config["cp"])), ep_size=1
    )
    analysis = LLMAnalysis(model, gpu, DtypeConfig(), parallel, flops_efficiency=EFFICIENCY)
    recompute = ActivationRecomputation.NONE
    if config["recompute"] > 0:
        recompute = ActivationRecomputation.FULL if config["recompute"] > 0.5 else ActivationRecomputation.SELECTIVE
    answer: dict[str, Any] = analysis.training(
        batch_size_per_gpu=int(batch),
        gradient_accumulation_steps=max(1, int(config["micro_batches"])),
        seq_len=length,
        activation_recomputation=recompute,
        ds_zero=DSZeRO(int(config["zero"])),
        flash_attn=config["flash"] > 0,
    )
    seconds = answer["latency_per_iter"] / max(1, int(config["micro_batches"]))
    return float(batch * length / seconds / (tensor * stages))


def evaluations_per_s() -> float:
    """Time llm-analysis on its own example, OPT-1.3B on eight A100, one configuration at a time."""
    from llm_analysis.analysis import LLMAnalysis
    from llm_analysis.config import (
        ParallelismConfig,
        get_dtype_config_by_name,
        get_gpu_config_by_name,
        get_model_config_by_name,
    )

    analysis = LLMAnalysis(
        get_model_config_by_name("facebook_opt-1.3b"),
        get_gpu_config_by_name("a100-sxm-80gb"),
        get_dtype_config_by_name("w16a16e16"),
        ParallelismConfig(dp_size=8),
    )
    began = time.perf_counter()
    for count in range(TIMED):
        analysis.training(batch_size_per_gpu=1 + count % 8, seq_len=2048, total_num_tokens=10**9)
    return TIMED / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
