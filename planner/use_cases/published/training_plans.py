"""Writes plans for published whole trainings, as a user would."""

from __future__ import annotations

import math
import re
from typing import Any, get_args

from planner.adapters.catalog import accelerator_aliases
from planner.model.catalog import Catalog
from planner.model.evidence.whole_training import TrainingKind, WholeTraining
from planner.model.hardware.accelerator_name import accelerator_named
from planner.model.network.adapters import AdapterTarget
from planner.model.plan.plan import Plan
from planner.quantity.time_units import SECONDS_PER_HOUR

ACCELERATORS_PER_NODE = 8
NETWORK_GBIT = {"Volta": 100.0, "Ampere": 1600.0, "Hopper": 3200.0, "Blackwell": 3200.0}
"""Usual network in Gbit/s between nodes, by the architecture of their accelerators."""
OTHER_NETWORK_GBIT = 800.0
KINDS = {"dense-decoder": "decoder", "gpt_bigcode": "decoder", "gpt2": "decoder", "llama": "decoder",
         "llama2": "decoder", "llama3": "decoder", "encoder": "encoder", "dense-encoder": "encoder",
         "moe-decoder": "moe_decoder"}  # fmt: skip
IMAGE_NETWORKS = {
    "resnet50": "resnet50", "resnet101": "resnet101", "resnet152": "resnet152",
    "vit_base_patch16_224": "vit-b16", "vit_large_patch16_224": "vit-l16", "vit_huge_patch14_224": "vit-h14",
}  # fmt: skip
USUAL_LENGTH = {"encoder": 512}
OTHER_USUAL_LENGTH = 2048
"""Usual tokens of a sample for other kinds. The amount of data must not depend on it."""
DIVIDES_EXPERTS = "Megatron-LM"
"""Framework for mixtures of experts on several machines, because no other one divides them."""


def plan_of(training: WholeTraining, catalog: Catalog) -> Plan | str:
    """Return the plan of a training, or the reason why there is none."""
    run = training.run
    accelerator = accelerator_named(run.gpu, catalog.accelerators, accelerator_aliases())
    if accelerator is None:
        return f"{run.gpu} is not an accelerator of the catalog"
    workload = _workload(training)
    if workload is None and training.kind is not TrainingKind.IMAGES and _length(training, "") is None:
        return "the length of its samples is not stated"
    if workload is None:
        return f"a plan has no formula for {run.model or run.model_family}"
    per_node = min(ACCELERATORS_PER_NODE, run.num_gpus)
    option: dict[str, Any] = {"own": accelerator.id, "count": per_node}
    if run.num_gpus > per_node:
        network = NETWORK_GBIT.get(accelerator.architecture, OTHER_NETWORK_GBIT)
        option |= {"nodes": run.num_gpus // per_node, "network_gbit_per_s": network}
    return Plan.model_validate({
        "schema_version": 1, "name": run.id, "workload": workload, "work": _work(training), "options": [option],
        "training": _training(training),
    })  # fmt: skip


def _workload(training: WholeTraining) -> dict[str, Any] | None:
    run = training.run
    if training.kind is TrainingKind.IMAGES:
        known = IMAGE_NETWORKS.get(run.model)
        return {"ref": known} if known else None
    kind = KINDS.get(run.model_family)
    length = _length(training, kind or "")
    if kind is None or run.n_layers is None or run.hidden is None or run.n_heads is None or length is None:
        return None
    gelu = run.mlp_type.startswith("gelu")
    network: dict[str, Any] = {
        "kind": kind, "layers": run.n_layers, "hidden": run.hidden, "heads": run.n_heads,
        "kv_heads": run.n_kv_heads or run.n_heads, "head_dim": run.hidden // run.n_heads,
        "mlp": "gelu" if gelu else "swiglu", "norm": "layernorm" if gelu else "rmsnorm", "bias": gelu,
        "positions": "learned" if kind == "encoder" else "rope", "max_positions": max(length, 512),
        "vocab": run.vocab or 50_257, "tied_head": kind == "encoder",
    }  # fmt: skip
    if kind == "moe_decoder":
        numbers = [int(number) for number in re.findall(r"\d+", run.mlp_type)]
        if len(numbers) < 2:
            return None
        shared = numbers[2] if len(numbers) > 2 else 0
        network |= {"experts": numbers[0], "experts_per_token": numbers[1], "shared_experts": shared,
                    "moe_ffn_hidden": run.ffn_hidden}  # fmt: skip
    else:
        network["ffn_hidden"] = run.ffn_hidden or 4 * run.hidden
    return {"architecture": network, "seq_len": length}


def _length(training: WholeTraining, kind: str) -> int | None:
    """Return the sample length: stated, else the usual one raised to hold the mean sample; None without token data."""
    run = training.run
    if run.seq_len is not None:
        return int(run.seq_len)
    usual = USUAL_LENGTH.get(kind, OTHER_USUAL_LENGTH)
    if run.avg_tokens_per_sample is not None:
        return max(usual, 1 << (math.ceil(run.avg_tokens_per_sample) - 1).bit_length())
    return usual if run.tokens_per_s_per_gpu is not None else None


def _work(training: WholeTraining) -> dict[str, float]:
    run, seconds = training.run, (training.hours or 0.0) * SECONDS_PER_HOUR
    if run.tokens_per_s_per_gpu is not None:
        return {"tokens": run.tokens_per_s_per_gpu * run.num_gpus * seconds}
    work = {"samples": (run.throughput_total or 0.0) * seconds}
    short = run.avg_tokens_per_sample is not None and run.avg_tokens_per_sample < (run.seq_len or math.inf)
    return work | ({"tokens_per_sample": float(run.avg_tokens_per_sample or 0)} if short else {})


def _training(training: WholeTraining) -> dict[str, Any]:
    run = training.run
    chosen: dict[str, Any] = {}
    precision = run.precision.split("-")[0].casefold()
    if precision in ("fp32", "bf16", "fp16", "tf32"):
        chosen["precision"] = precision
    elif precision.startswith("fp8"):
        chosen["precision"] = "bf16"
    if run.global_batch and run.global_batch >= run.num_gpus:
        chosen["global_batch"] = int(run.global_batch)
    if training.kind is TrainingKind.LORA:
        said = run.lora_targets.casefold()
        targets = [target for target in get_args(AdapterTarget) if target in said or said == "all"]
        four_bit = re.search("nf4|4bit|int4|qlora|gptq", f"{run.quantization} {run.method}".casefold())
        chosen["adapters"] = {
            "rank": int(run.lora_rank or 16),
            "targets": targets or ["query", "value"],
            **({"frozen": "nf4"} if four_bit else {}),
        }
    if KINDS.get(run.model_family) == "moe_decoder" and run.num_gpus > ACCELERATORS_PER_NODE:
        chosen["framework"] = DIVIDES_EXPERTS
    short = run.avg_tokens_per_sample is not None and run.throughput_total is not None
    if training.kind is not TrainingKind.IMAGES and "padded" in run.packing and short:
        chosen["packing"] = False
    return chosen
