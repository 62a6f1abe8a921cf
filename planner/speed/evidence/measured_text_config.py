"""Configurations of published measurements of text networks for the physics, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner.model.evidence.measurement import Measurement
from planner.model.hardware.accelerator_name import accelerator_named
from planner.model.hardware.machines import Accelerator
from planner.scenario.frameworks import framework_family
from planner.speed.evidence.measured_batches import batches_of, length_of
from planner.speed.evidence.measured_machine import machine_of, spread_of
from planner.speed.evidence.measured_method import objective_of, pairs_of, tokens_of_pairs
from planner.speed.evidence.measured_network import is_mixture, network_of, states_experts
from planner.speed.evidence.measured_training import training_of
from planner.speed.physics.accelerator_facts import accelerator_facts, chip_of, generation_of, peak_flops, says_bf16
from planner.speed.physics.observation import Labels, Observation, Refusal

LARGEST_SEQUENCE = 4_000_000
OTHER_NETWORKS = re.compile(
    r"encoder[- ]decoder|seq2seq|\b(?:flan-?|m|u|by)?t5\b|\bbart\b|pegasus|mamba|rwkv|\bssm\b|state[- ]space|retnet"
    r"|hyena|whisper|wav2vec|conformer|diffusion|\bdit\b|\bunet\b|\bgan\b|graph neural|recommend|dlrm"
)
"""Networks of which the physics of decoders and encoders says nothing."""
OTHER_METHODS = re.compile(r"\b(?:ppo|grpo|rlhf|rloo|reinforcement|distill\w*)\b")
"""Trainings that do more in a step than forward, backward and update: rollouts, reference models, teachers."""


def observe(
    row: Measurement, accelerators: Mapping[str, Accelerator], aliases: Mapping[str, str]
) -> Observation | Refusal:
    """Describe a row for the physics. What the row leaves out is filled with what is usual, never with its result."""
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
    config |= machine_of(row, accelerator) | spread_of(row)
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
    if _needs_flops(config) * tokens > config["peak"]:
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


def _needs_flops(config: Mapping[str, float]) -> float:
    """Return the fewest FLOPs that a token can cost: forward and backward through its weights, no attention."""
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
    """Return why the physics has no such network or step, or does not know enough of it; None where it does."""
    if is_mixture(row) and not states_experts(row):
        return "a mixture whose experts are not stated"
    if (network := OTHER_NETWORKS.search(f"{row.model_family} {row.model}".casefold())) is not None:
        return f"no decoder and no encoder alone: {network[0]}"
    if (method := OTHER_METHODS.search(row.method.casefold())) is not None:
        return f"more than one pass of one network in a step: {method[0]}"
    return None


SAMPLE_UNITS = ("samples/s", "sequences/s", "s")
"""Units of rows whose `throughput_total` counts samples; of a run time (`s`), it is the samples over that time."""


def measured_tokens(row: Measurement) -> float | None:
    """Return tokens/s per accelerator: stated, or from samples/s and the sample's length."""
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
    """Return what tokens/s per accelerator are multiplied by for a score in the row's own words.

    Tokens/s per accelerator where the row states them, else its total in samples or tokens.
    """
    if row.tokens_per_s_per_gpu is not None or row.unit == "s/step":
        return 1.0
    if row.unit in SAMPLE_UNITS:
        return row.num_gpus / (length_of(row) or 1.0)
    return 1.0 if "gpu" in row.unit or "device" in row.unit else float(row.num_gpus)


def format_of_row(text: str) -> str:
    """Return the number format that a publication's words on precision mean; 16 bit where they mean none."""
    said = text.casefold()
    for name, words in (
        ("fp4", ("nvfp4", "fp4", "mxfp4")),
        ("fp8", ("fp8", "int8")),
        ("bf16", ("bf16", "bfloat") if says_bf16(text) else ()),
        ("16bit", ("fp16", "half", "amp", "mixed")),
        ("tf32", ("tf32",)),
        ("fp32", ("fp32", "float32")),
    ):
        if any(part in said for part in words):
            return name
    return "16bit"
