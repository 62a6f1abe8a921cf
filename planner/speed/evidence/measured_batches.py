"""Sample length, micro-batch and accumulation of a published measurement, stated or assumed so that they fit."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner.model.evidence.measurement import Measurement
from planner.model.hardware.machines import Accelerator
from planner.scenario.frameworks import framework_family

REMEMBERED_BYTES = 40.0
"""Bytes of activations per hidden unit, layer and token, for guessing a batch (Korthikanti et al. 2022)."""
CHECKPOINT_BYTES = 2.5
"""Bytes per hidden unit, layer and token if every layer is computed again: its input, and a little more."""
LOGIT_BYTES = 4.0
"""Smallest number of bytes of a logit: itself and its gradient at 16 bit."""
ROOM, NO_ROOM = 0.4, 1.0
"""Smallest possible activations over free memory, from which the chance of recomputation rises from 0 to 1.

Below the first, activations of every trainer fit: eager layers keep up to twice as much (docs/accuracy-tables.md,
Memory), and the loss needs more. Above the second, none fit, so layers were computed again."""
SELECTIVE_KEPT = 0.5
"""Share of these activations that selective recomputation keeps: attention's output, and that of every second product
(torchtitan)."""
ASSUMED_LENGTH = 1024.0
"""Tokens of a sample if only tokens/s are stated."""
PADDED_ALIKE = re.compile(r"padded to (max(_seq_len| length|$)|\d)")
"""Words for padding every sample to one length, as opposed to the longest of its batch."""
TOKENS_EACH = re.compile(
    r"(?<![\d,.])(?:(\d+) ?x ?)?(\d[\d,]*) tokens per (?:gpu|device|accelerator)\b"
    r"(?! (?:and|per) (?:optimizer )?(?:step|s))"
)
"""Words for the tokens of a micro-batch on one device: "16,384 tokens per GPU", "4x2048 tokens per device". Tokens of a
step or a second do not match."""
PADDED_LENGTH, SINGLE_LENGTH = 512.0, 256.0
"""Tokens of instruction data without a stated length: padded to the longest of a batch, and one by one."""
BY_LAYER = ("megatron",)
"""Frameworks whose recipes compute the fewest possible layers again. Others compute all or none again."""
BY_LOCAL_BATCH = ("torchtitan",)
"""Frameworks that state the samples of a replica in a step, and run a pipeline with one sample per micro-batch
(torchtitan's `local_batch_size` and `pipeline_parallel_microbatch_size`)."""
LEAST_FREE = 0.3
"""Smallest share of the memory that activations may use: a measured run did fit, if necessary with smaller states."""
PIPELINED = 4.0
"""Micro-batches per pipeline stage if no batch is stated: "bubble negligible" (Huang et al. 2019)."""
LONGEST_GUESS, SINGLE_GUESS = 16_384.0, 2.0
"""Largest guessed micro-batch: in tokens, and in samples of unpacked fine-tuning (the recipes' defaults)."""


def is_packed(row: Measurement) -> bool:
    """Return whether samples were joined to full sequences."""
    loose = "padding-free" in row.packing or "unpacked" in row.packing
    return not loose and row.packing.startswith(("packed", "concat"))


def has_variable_length(row: Measurement) -> bool:
    """Return whether samples of different lengths stand side by side."""
    padded = "padded" in row.packing and not PADDED_ALIKE.search(row.packing)
    return padded or any(word in row.packing for word in ("padding-free", "unpacked", "group_by_length"))


def length_of(row: Measurement) -> float | None:
    """Return the tokens of a sample, padding included, or None if unknown."""
    if (is_packed(row) or PADDED_ALIKE.search(row.packing)) and row.seq_len:
        return row.seq_len
    if row.avg_tokens_per_sample:
        return row.avg_tokens_per_sample
    if not has_variable_length(row):
        return row.seq_len
    usual = PADDED_LENGTH if "padded" in row.packing else SINGLE_LENGTH
    return min(row.seq_len or usual, usual)


def batches_of(row: Measurement, config: Mapping[str, float], accelerator: Accelerator) -> dict[str, float]:
    """Return length, micro-batch, accumulation and recomputation, with values that would fit for those not stated.

    A pipeline's batch without accumulation is that of a replica in a step, split into micro-batches of one sample.
    """
    samples, tokens_each = _stated_tokens(row.packing.casefold(), config["cp"])
    length = length_of(row) or tokens_each or ASSUMED_LENGTH
    memory = (accelerator.hbm_gib or 16) * 2**30
    free = max(LEAST_FREE * memory, memory - _states_bytes(config))
    per_replica = None if row.global_batch is None else row.global_batch / config["dp"]
    micro, accumulation = row.micro_batch, row.grad_accum
    if micro is None and samples:
        micro = max(1.0, samples * tokens_each / length)
    if micro is None and per_replica is not None and accumulation is not None:
        micro = max(1.0, per_replica / accumulation)
    if micro is None:
        micro = _guessed_micro_batch(row, config, length, free, per_replica)
    local = row.micro_batch is not None and framework_family(row.framework) in BY_LOCAL_BATCH
    if accumulation is None:
        usual = PIPELINED * config["pp"] if config["pp"] > 1 and not local else 1.0
        accumulation = usual if per_replica is None else max(1.0, per_replica / micro)
    if config["pp"] > 1 and (local or accumulation <= 1):
        micro, accumulation = 1.0, micro * accumulation
    tokens_in_flight = micro * length / config["tp"] / config["cp"] * min(config["pp"], max(1.0, accumulation))
    recompute = config["recompute"]
    if not row.activation_checkpointing and config["causal"]:
        recompute = max(recompute, _likely_recomputed(row, config, tokens_in_flight, free))
    return {
        "seq_len": length,
        "variable_length": float(has_variable_length(row)),
        "micro_batch": micro,
        "micro_batches": max(1.0, accumulation),
        "recompute": recompute,
    }


def _guessed_micro_batch(
    row: Measurement, config: Mapping[str, float], length: float, free: float, per_replica: float | None
) -> float:
    """Return the largest usual power of two of samples that fits in a quarter of the free memory."""
    kept = CHECKPOINT_BYTES * 4 if config["recompute"] > 0.5 else REMEMBERED_BYTES
    per_sample = config["layers"] * config["hidden"] * length / config["tp"] / config["pp"] / config["cp"]
    fits = max(0.25 * free, 0.0) / (per_sample * kept)
    tuned = has_variable_length(row) and "pretrain" not in row.method.casefold()
    usual = SINGLE_GUESS if tuned else fits if per_replica is not None else LONGEST_GUESS / length
    most = 1.0 if config["pp"] > 1 else min(fits, usual)
    micro = float(2 ** max(0, int(most).bit_length() - 1))
    return micro if per_replica is None else min(micro, max(1.0, per_replica))


def _likely_recomputed(row: Measurement, config: Mapping[str, float], tokens: float, free: float) -> float:
    """Return the likely share of layers that a run without a statement computed again to fit, or the chance of it.

    A pipeline's first stage keeps as many micro-batches as there are stages (Narayanan et al. 2021, section 2.2). A
    layer keeps at least, at 16 bit: inputs and outputs of its two norms, query, key, value, attention's output, and
    inputs and outputs of each map of the MLP. For Llama 3 8B that is 34 bytes per hidden unit of the 55 of an eager
    layer. If the framework computes parts of each layer again anyway, it is half of that.
    """
    numbers = 4 * config["hidden"] + 2 * (config["q_dim"] + config["kv_dim"])
    numbers += config["mlp_matrices"] * config["ffn_hidden"] * config["active_experts"]
    least = 2 * numbers * tokens * config["layers"] / config["pp"] * (SELECTIVE_KEPT if config["recompute"] else 1)
    if framework_family(row.framework) in BY_LAYER:
        return max(0.0, 1 - free / least)
    needed = (least + LOGIT_BYTES * tokens * config["vocab"]) / free
    return min(1.0, max(0.0, (needed - ROOM) / (NO_ROOM - ROOM)))


def _stated_tokens(packing: str, context: float) -> tuple[float, float]:
    """Read samples and tokens per sample of a micro-batch over all devices that share a sample, or 0 if not stated."""
    stated = TOKENS_EACH.search(packing)
    if stated is None:
        return 0.0, 0.0
    return float(stated[1] or 1), float(stated[2].replace(",", "")) * context


def _states_bytes(config: Mapping[str, float]) -> float:
    """Return the bytes of weights, gradients and Adam's moments on one device, or those of frozen weights alone.

    Training takes 16 bytes per parameter.
    """
    mlp = config["mlp_matrices"] * config["hidden"] * config["ffn_hidden"] * config["experts"] * config["layers"]
    expert = min(mlp, config["parameters"]) if config["experts"] > 1 else 0.0
    replicas = config["dp"] * config["cp"]
    span = min(config["ep"], replicas)
    stored = (config["parameters"] - expert + expert / span) / config["tp"] / config["pp"]
    if config["adapters"]:
        return stored * (0.6 if config["quantized"] else 2.0) / (config["shards"] if config["zero"] >= 3 else 1.0)
    if config["zero"] >= 3:
        gathered = 2.0 * stored if config["pp"] > 1 else 0.0
        return config["parameters"] / config["tp"] / config["pp"] * 16.0 / config["shards"] + gathered
    return stored * (4.0 + 12.0 / (replicas if config["zero"] >= 1 else 1.0))
