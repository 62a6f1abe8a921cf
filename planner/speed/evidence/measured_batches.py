"""Sample length, micro-batch and accumulation of a published measurement, or what would fit."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner.model.evidence.measurement import Measurement
from planner.model.hardware.machines import Accelerator
from planner.scenario.frameworks import framework_family

REMEMBERED_BYTES = 40.0
"""Of a hidden unit per layer, token and sample, where a batch has to be guessed (Korthikanti et al. 2022)."""
CHECKPOINT_BYTES = 2.5
"""The same where every layer is computed again: its input, and a little more."""
LOGIT_BYTES = 4.0
"""Of a logit at least: itself and its gradient at 16 bit."""
ROOM, NO_ROOM = 0.4, 1.0
"""Leanest activations against the memory left. Below the one every trainer's fit, who keep up to twice as much in eager
layers (docs/accuracy-tables.md, Memory) and more for the loss; above the other none do, and layers were computed again.
Between lies the chance of it."""
SELECTIVE_KEPT = 0.5
"""Of these activations, where operators are chosen: attention's output, and every second product's (torchtitan)."""
ASSUMED_LENGTH = 1024.0
"""Tokens of a sample, where only tokens/s are stated."""
PADDED_ALIKE = re.compile(r"padded to (max(_seq_len| length|$)|\d)")
"""Every sample to one length, as opposed to the longest of its batch."""
TOKENS_EACH = re.compile(
    r"(?<![\d,.])(?:(\d+) ?x ?)?(\d[\d,]*) tokens per (?:gpu|device|accelerator)\b"
    r"(?! (?:and|per) (?:optimizer )?(?:step|s))"
)
"""What a micro-batch holds on one device, in words about packing: "16,384 tokens per GPU", "4x2048 tokens per device";
not what a step or a second does."""
PADDED_LENGTH, SINGLE_LENGTH = 512.0, 256.0
"""Of instruction data without a stated length: padded to the longest of a batch; one by one."""
BY_LAYER = ("megatron",)
"""Frameworks whose recipes compute as few layers again as they must; elsewhere it is all or none."""
BY_LOCAL_BATCH = ("torchtitan",)
"""Frameworks that name what a replica takes in a step, and run a pipeline with one sample a micro-batch (torchtitan's
`local_batch_size` and `pipeline_parallel_microbatch_size`)."""
LEAST_FREE = 0.3
"""Of the memory, for activations: a run that was measured did fit, in smaller states if need be."""
PIPELINED = 4.0
"""Micro-batches for each stage of a pipeline, where no batch is stated: "bubble negligible" (Huang et al. 2019)."""
LONGEST_GUESS, SINGLE_GUESS = 16_384.0, 2.0
"""Tokens of the largest micro-batch that is guessed; samples of fine-tuning, where they are not packed: the recipes'
defaults."""


def is_packed(row: Measurement) -> bool:
    """Return whether samples were joined to full sequences."""
    loose = "padding-free" in row.packing or "unpacked" in row.packing
    return not loose and row.packing.startswith(("packed", "concat"))


def has_variable_length(row: Measurement) -> bool:
    """Return whether samples of different lengths stand side by side."""
    padded = "padded" in row.packing and not PADDED_ALIKE.search(row.packing)
    return padded or any(word in row.packing for word in ("padding-free", "unpacked", "group_by_length"))


def length_of(row: Measurement) -> float | None:
    """Return the tokens that a sample costs; None where nothing is known of it."""
    if (is_packed(row) or PADDED_ALIKE.search(row.packing)) and row.seq_len:
        return row.seq_len
    if row.avg_tokens_per_sample:
        return row.avg_tokens_per_sample
    if not has_variable_length(row):
        return row.seq_len
    usual = PADDED_LENGTH if "padded" in row.packing else SINGLE_LENGTH
    return min(row.seq_len or usual, usual)


def batches_of(row: Measurement, config: Mapping[str, float], accelerator: Accelerator) -> dict[str, float]:
    """Return length, micro-batch, accumulation and recomputation; what is not stated is what would fit.

    A pipeline's batch without accumulation is what a replica takes in a step: as many micro-batches as samples.
    """
    samples, each_of = _tokens_each(row.packing.casefold(), config["cp"])
    tokens = samples * each_of
    length = length_of(row) or each_of or ASSUMED_LENGTH
    replicas = config["dp"]
    micro, accumulation = row.micro_batch, row.grad_accum
    if micro is None and tokens:
        micro = max(1.0, tokens / length)
    per_sample = config["layers"] * config["hidden"] * length / config["tp"] / config["pp"] / config["cp"]
    memory = (accelerator.hbm_gib or 16) * 2**30
    free = max(LEAST_FREE * memory, memory - _states_bytes(config))
    each = None if row.global_batch is None else row.global_batch / replicas
    if micro is None and each is not None and accumulation is not None:
        micro = max(1.0, each / accumulation)
    if micro is None:
        kept = CHECKPOINT_BYTES * 4 if config["recompute"] > 0.5 else REMEMBERED_BYTES
        fits = max(0.25 * free, 0.0) / (per_sample * kept)
        tuned = has_variable_length(row) and "pretrain" not in row.method.casefold()
        usual = SINGLE_GUESS if tuned else fits if each is not None else LONGEST_GUESS / length
        most = 1.0 if config["pp"] > 1 else min(fits, usual)
        micro = float(2 ** max(0, int(most).bit_length() - 1))
        if each is not None:
            micro = min(micro, max(1.0, each))
    local = row.micro_batch is not None and framework_family(row.framework) in BY_LOCAL_BATCH
    if accumulation is None:
        usual = PIPELINED * config["pp"] if config["pp"] > 1 and not local else 1.0
        accumulation = usual if each is None else max(1.0, each / micro)
    if config["pp"] > 1 and (local or accumulation <= 1):
        micro, accumulation = 1.0, micro * accumulation
    tokens_held = micro * length / config["tp"] / config["cp"] * min(config["pp"], max(1.0, accumulation))
    unsaid = not row.activation_checkpointing and config["causal"]
    return {
        "seq_len": length,
        "variable_length": float(has_variable_length(row)),
        "micro_batch": micro,
        "micro_batches": max(1.0, accumulation),
        "recompute": max(config["recompute"], _likely_recomputed(row, config, tokens_held, free) if unsaid else 0.0),
    }


def _likely_recomputed(row: Measurement, config: Mapping[str, float], tokens: float, free: float) -> float:
    """Return the share of the layers that a run computed again to fit, where nobody says; or the chance of it.

    A pipeline's first stage holds as many micro-batches as it has stages (Narayanan et al. 2021, section 2.2). What a
    layer keeps at least, at 16 bit: inputs and outputs of its two norms, query, key, value, attention's output,
    and what each map of the MLP reads or writes; for Llama 3 8B 34 bytes a hidden unit of the 55 of an eager one.
    Where the framework computes parts of each layer again by itself, half of that.
    """
    numbers = 4 * config["hidden"] + 2 * (config["q_dim"] + config["kv_dim"])
    numbers += config["mlp_matrices"] * config["ffn_hidden"] * config["active_experts"]
    least = 2 * numbers * tokens * config["layers"] / config["pp"] * (SELECTIVE_KEPT if config["recompute"] else 1)
    if framework_family(row.framework) in BY_LAYER:
        return max(0.0, 1 - free / least)
    needed = (least + LOGIT_BYTES * tokens * config["vocab"]) / free
    return min(1.0, max(0.0, (needed - ROOM) / (NO_ROOM - ROOM)))


def _tokens_each(said: str, context: float) -> tuple[float, float]:
    """Read how many samples of how many tokens a micro-batch holds, over all devices that share a sample; 0 unsaid."""
    stated = TOKENS_EACH.search(said)
    if stated is None:
        return 0.0, 0.0
    return float(stated[1] or 1), float(stated[2].replace(",", "")) * context


def _states_bytes(config: Mapping[str, float]) -> float:
    """Weights, gradients and Adam's moments on one device: 16 bytes a parameter, or frozen weights alone."""
    each = config["mlp_matrices"] * config["hidden"] * config["ffn_hidden"] * config["experts"] * config["layers"]
    expert = min(each, config["parameters"]) if config["experts"] > 1 else 0.0
    replicas = config["dp"] * config["cp"]
    span = min(config["ep"], replicas)
    held = (config["parameters"] - expert + expert / span) / config["tp"] / config["pp"]
    if config["adapters"]:
        return held * (0.6 if config["quantized"] else 2.0) / (config["shards"] if config["zero"] >= 3 else 1.0)
    if config["zero"] >= 3:
        gathered = 2.0 * held if config["pp"] > 1 else 0.0
        return config["parameters"] / config["tp"] / config["pp"] * 16.0 / config["shards"] + gathered
    return held * (4.0 + 12.0 / (replicas if config["zero"] >= 1 else 1.0))
