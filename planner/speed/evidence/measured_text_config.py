"""Configurations of published measurements of text networks for the physics, or reasons for refusing them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner.model.evidence.measurement import Measurement
from planner.model.hardware.accelerator_name import accelerator_named
from planner.model.hardware.machines import Accelerator
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings, TrainingMethod
from planner.network.method_work import forward_only_passes, has_scalar_head
from planner.scenario.frameworks import framework_family
from planner.scenario.training_setup import padded_length
from planner.speed.evidence.measured_batches import batches_of, length_of
from planner.speed.evidence.measured_network import is_mixture, network_of, states_experts
from planner.speed.evidence.measured_training import training_of
from planner.speed.physics.accelerator_facts import accelerator_facts, chip_of, generation_of, peak_flops, says_bf16
from planner.speed.physics.interconnect import (
    interconnect_of,
    named_network_gbit,
    parse_lanes,
    parse_link,
    parse_network_gbit,
)
from planner.speed.physics.observation import Labels, Observation, Refusal

LARGEST_SEQUENCE = 4_000_000
OTHER_NETWORKS = re.compile(
    r"encoder[- ]decoder|seq2seq|\b(?:flan-?|m|u|by)?t5\b|\bbart\b|pegasus|mamba|rwkv|\bssm\b|state[- ]space|retnet"
    r"|hyena|whisper|wav2vec|conformer|diffusion|\bdit\b|\bunet\b|\bgan\b|graph neural|recommend|dlrm"
)
"""Networks that the physics of decoders and encoders does not cover."""
OTHER_METHODS = re.compile(r"\b(?:ppo|grpo|rlhf|rloo|reinforcement|distill\w*)\b")
"""Trainings whose steps consist of more than forward, backward and update: rollouts, reference models, teachers."""
SPLITS = ("tp", "pp", "cp", "ep")
SECOND_FSDP = re.compile(r"\bfsdp2\b")
"""PyTorch's second FSDP. Beside replicas (`DP4 FSDP2`) or experts (`EP32 x FSDP2`) it means two shards instead."""
PREFERENCES = re.compile(r"\b(dpo|orpo|kto|simpo|reward)\b")
"""Names of methods whose samples are pairs or judged answers, within a row's `method`: "DPO QLoRA"."""
PAIRS_PER_S = "samples/s"
"""Unit of these rows. It counts pairs, or answers for KTO."""


def observe(
    row: Measurement, accelerators: Mapping[str, Accelerator], aliases: Mapping[str, str]
) -> Observation | Refusal:
    """Describe a row for the physics. Fields that the row omits get usual values, never values from its result."""
    accelerator = accelerator_named(row.gpu, accelerators, aliases)
    refused = _refusal(row, accelerator)
    if refused is not None:
        return Refusal(row.id, refused)
    assert accelerator is not None
    tokens = measured_tokens(row)
    if tokens is None:
        return Refusal(row.id, "no throughput in tokens")
    number_format = format_of_row(row.precision)
    peak = peak_flops(accelerator, number_format)
    if peak is None:
        return Refusal(row.id, f"{accelerator.id} has no {number_format} peak")
    network = network_of(row)
    config = (
        network | training_of(row, network, number_format, accelerator) | accelerator_facts(accelerator, number_format)
    )
    config |= machine_of(row, accelerator, network_gbit_per_s=_network_gbit(row, accelerator)) | spread_of(row)
    config |= {"stage_layers": config["layers"] / config["pp"]}  # teams choose stages that balance with the tables
    config |= batches_of(row, config, accelerator)
    objective = objective_of(row, adapters=config["adapters"] > 0)
    if objective.method is not None:
        config |= pairs_of(row, objective, config)
        tokens = tokens_of_pairs(row, objective, config)
        if tokens is None:
            return Refusal(row.id, "no throughput in pairs or answers")
    if config["seq_len"] > LARGEST_SEQUENCE:
        return Refusal(row.id, "out of range: sample length")
    if _least_flops(config) * tokens > config["peak"]:
        return Refusal(row.id, "faster than the accelerator's peak: something in the row is wrong")
    labels = Labels(
        accelerator=accelerator.id,
        generation=generation_of(accelerator),
        framework=framework_family(row.framework),
        source=row.origin,
        workload=row.model,
        chip=chip_of(accelerator),
    )
    return Observation(row.id, config, labels, tokens, scored_unit(row))


def _least_flops(config: Mapping[str, float]) -> float:
    """Return the fewest FLOPs that a token can take: forward and backward through its weights, without attention."""
    attention = 2 * config["hidden"] * (config["q_dim"] + config["kv_dim"])
    mlp = config["mlp_matrices"] * config["hidden"] * config["ffn_hidden"] * config["active_experts"]
    return (6 - 2 * config["adapters"]) * config["layers"] * (attention + mlp)


def _refusal(row: Measurement, accelerator: Accelerator | None) -> str | None:
    if row.metric == "time_to_train":
        return "time to train, not speed"
    if accelerator is None:
        return "accelerator not known"
    if accelerator.hbm_gb_per_s is None:
        return "accelerator's bandwidth not known"
    if row.n_layers is None or row.hidden is None:
        return "architecture not known"
    if (other := other_training(row)) is not None:
        return other
    if (row.tp or 1) * (row.pp or 1) * (row.cp or 1) > row.num_gpus:
        return "out of range: splits exceed the accelerators"
    if (row.pp or 1) > row.n_layers:
        return "out of range: more stages than layers"
    return None


def other_training(row: Measurement) -> str | None:
    """Return why the physics does not cover a row's network or step, or None if it does."""
    if is_mixture(row) and not states_experts(row):
        return "a mixture whose experts are not stated"
    if (network := OTHER_NETWORKS.search(f"{row.model_family} {row.model}".casefold())) is not None:
        return f"no decoder and no encoder alone: {network[0]}"
    if (method := OTHER_METHODS.search(row.method.casefold())) is not None:
        return f"more than one pass of one network in a step: {method[0]}"
    return None


SAMPLE_UNITS = ("samples/s", "sequences/s", "s")
"""Units of rows whose `throughput_total` counts samples per second. For run times (`s`), it is samples over time."""


def measured_tokens(row: Measurement) -> float | None:
    """Return tokens/s per accelerator as stated, or from samples/s and the sample's length, or None if unknown."""
    if row.tokens_per_s_per_gpu is not None:
        return row.tokens_per_s_per_gpu
    length = length_of(row)
    if row.throughput_total is None:
        return None
    if row.unit.startswith("tokens/s"):
        return row.throughput_total / (1 if "gpu" in row.unit or "device" in row.unit else row.num_gpus)
    if length is None:
        return None
    if row.unit == "s/step" and row.global_batch is not None:
        return row.global_batch * length / row.throughput_total / row.num_gpus
    if row.unit in SAMPLE_UNITS:
        return row.throughput_total * length / row.num_gpus
    return None


def scored_unit(row: Measurement) -> float:
    """Return the factor from tokens/s per accelerator to the unit in which the row is scored.

    This is tokens/s per accelerator if the row states them, else its total in samples or tokens per second.
    """
    if row.tokens_per_s_per_gpu is not None or row.unit == "s/step":
        return 1.0
    if row.unit in SAMPLE_UNITS:
        return row.num_gpus / (length_of(row) or 1.0)
    return 1.0 if "gpu" in row.unit or "device" in row.unit else float(row.num_gpus)


def format_of_row(text: str) -> str:
    """Return the number format that a publication's words on precision mean, or "16bit" if they name none."""
    lowered = text.casefold()
    for name, words in (
        ("fp4", ("nvfp4", "fp4", "mxfp4")),
        ("fp8", ("fp8", "int8")),
        ("bf16", ("bf16", "bfloat") if says_bf16(text) else ()),
        ("16bit", ("fp16", "half", "amp", "mixed")),
        ("tf32", ("tf32",)),
        ("fp32", ("fp32", "float32")),
    ):
        if any(part in lowered for part in words):
            return name
    return "16bit"


def spread_of(row: Measurement) -> dict[str, float]:
    """Return the degrees of parallelism from the columns or, for those that are empty, from the words."""
    text = _one_by_one(row.parallelism.casefold())
    tp, pp, cp, ep = (
        _degree(value, name, text) for value, name in zip((row.tp, row.pp, row.cp, row.ep), SPLITS, strict=True)
    )
    splits = tp * pp * cp
    if splits > row.num_gpus or row.num_gpus % splits:
        tp = pp = cp = splits = 1.0
    dp = row.num_gpus / splits
    hybrid = "hsdp" in f"{row.parallelism} {row.zero}".casefold()
    shards = min(dp, float(row.gpus_per_node or 8)) if hybrid else dp * cp
    replicas = _degree(None, "dp", text)
    two = replicas > 1 or 2 * ep == row.num_gpus
    part = _degree(None, "fsdp", text if two else SECOND_FSDP.sub("fsdp", text))
    if 1 < part < shards and not shards % part:
        shards = part
    return {
        "shards": shards,
        "dp": dp,
        "tp": tp,
        "pp": pp,
        "cp": cp,
        "ep": min(ep, row.num_gpus / pp),
        "chunks": _degree(row.vpp, "vpp?", text),
    }


def _degree(stated: int | None, name: str, text: str) -> float:
    """Return a degree of parallelism from its column, from the words (`TP8 PP4`, `ep: 8`, `vp5`), or 1."""
    degree = None if stated else re.search(rf"(?<![a-z]){name}(?:_?size)?[\s=:_-]*(\d+)", text)
    return max(1.0, float(stated or (degree[1] if degree else 1)))


def _one_by_one(text: str) -> str:
    """Rewrite `tp/pp/ep = 2/4/8` as `tp2 pp4 ep8`."""
    degrees = re.search(r"((?:[a-z]+/)+[a-z]+)[\s=:]*((?:\d+/)+\d+)", text)
    if degrees is None:
        return text
    pairs = zip(degrees[1].split("/"), degrees[2].split("/"), strict=False)
    return text.replace(degrees[0], " ".join(name + degree for name, degree in pairs))


def _network_gbit(row: Measurement, accelerator: Accelerator) -> float | None:
    """Return the Gbit/s of a node's network as stated, or by its name."""
    network, per_node = row.interconnect_inter, _used_of_a_node(row)
    return parse_network_gbit(network, per_node=per_node) or named_network_gbit(network, accelerator)


def _used_of_a_node(row: Measurement) -> int:
    return min(row.gpus_per_node or 8, row.num_gpus)


def machine_of(row: Measurement, accelerator: Accelerator, *, network_gbit_per_s: float | None) -> dict[str, float]:
    """Return the interconnect for the physics, with usual values for those not stated."""
    per_node = _used_of_a_node(row)
    interconnect = interconnect_of(
        accelerator,
        per_node=per_node,
        slots=per_node,
        link=parse_link(row.interconnect_intra, accelerator),
        network_gbit_per_s=network_gbit_per_s,
        lanes=parse_lanes(row.interconnect_intra),
    )
    return interconnect.facts(per_node=per_node)


def objective_of(row: Measurement, *, adapters: bool) -> MethodSettings:
    """Return the method of a row with its usual reference."""
    named = PREFERENCES.search(row.method.casefold())
    if named is None:
        return NEXT_TOKEN
    return MethodSettings(method=TrainingMethod(named[1])).with_reference(adapters=adapters)


def pairs_of(row: Measurement, objective: MethodSettings, config: Mapping[str, float]) -> dict[str, float]:
    """Return the entries of a configuration that pairs change: sequences, padding, and passes without gradients."""
    sequences = config["micro_batch"] * objective.sequences
    most = max(row.seq_len or config["seq_len"], config["seq_len"])
    return {
        "micro_batch": sequences,
        "seq_len": padded_length(config["seq_len"], most, sequences),
        "forward_only": forward_only_passes(objective),
        "head_share": 0.0 if has_scalar_head(objective) else config["head_share"],
    }


def tokens_of_pairs(row: Measurement, objective: MethodSettings, config: Mapping[str, float]) -> float | None:
    """Return tokens/s per accelerator, padding included, or None if the row does not count its samples."""
    if row.throughput_total is None or row.unit != PAIRS_PER_S:
        return None
    return row.throughput_total * objective.sequences * config["seq_len"] / row.num_gpus
