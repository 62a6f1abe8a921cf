"""Turns a published measurement into a configuration of the physics, or says why it cannot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from planner.estimate.accelerator_facts import accelerator_facts, generation_of, peak_flops
from planner.estimate.links import links, parse_link, parse_network_gbit
from planner.estimate.observation import Labels, Observation, Refusal
from planner.model.evidence import Measurement
from planner.model.hardware import Accelerator

if TYPE_CHECKING:
    pass

MASKED_SHARE = 0.15
"""Of an encoder's tokens, those whose logits are computed (Devlin et al. 2018)."""
FUSED_ATTENTION_YEAR = 2023
"""From then on the usual frameworks call a fused attention kernel unless told otherwise (PyTorch 2.0)."""
REMEMBERED_BYTES = 40.0
"""Of a hidden unit per layer, token and sample, where a batch has to be guessed (Korthikanti et al. 2022)."""
ASSUMED_LENGTH = 1024.0
"""Tokens of a sample, where only tokens/s are stated."""
LARGEST_SEQUENCE = 4_000_000


def observe(
    row: Measurement, accelerators: Mapping[str, Accelerator], aliases: Mapping[str, str]
) -> Observation | Refusal:
    """Describe a row for the physics. What the row leaves out is filled with what is usual, never with its result."""
    accelerator = find(row.gpu, accelerators, aliases)
    refused = _refusal(row, accelerator)
    if refused is not None:
        return Refusal(row.id, refused)
    assert accelerator is not None
    tokens = measured_tokens(row)
    if tokens is None:
        return Refusal(row.id, "no throughput in tokens")
    number_format = _format(row.precision)
    peak = peak_flops(accelerator, number_format)
    if peak is None:
        return Refusal(row.id, f"{accelerator.id} has no {number_format} peak")
    config = _network(row) | _training(row, number_format) | accelerator_facts(accelerator, number_format)
    config |= _machine(row, accelerator) | _spread(row)
    config |= _batches(row, config, accelerator)
    if _needs_flops(config) * tokens > config["peak"]:
        return Refusal(row.id, "faster than the accelerator's peak: something in the row is wrong")
    labels = Labels(
        accelerator=accelerator.id,
        generation=generation_of(accelerator),
        framework=framework_family(row),
        source=row.source,
        workload=row.model,
    )
    return Observation(row.id, config, labels, tokens, 1.0)


def _needs_flops(config: Mapping[str, float]) -> float:
    """Return the fewest FLOPs that a token can cost: forward and backward through its weights, no attention."""
    attention = 2 * config["hidden"] * (config["q_dim"] + config["kv_dim"])
    mlp = config["mlp_matrices"] * config["hidden"] * config["ffn_hidden"] * config["active_experts"]
    return (6 - 2 * config["adapters"]) * config["layers"] * (attention + mlp)


def find(name: str, accelerators: Mapping[str, Accelerator], aliases: Mapping[str, str]) -> Accelerator | None:
    """Return an accelerator by id or alias."""
    return accelerators.get(aliases.get(name, name))


def _refusal(row: Measurement, accelerator: Accelerator | None) -> str | None:
    if row.metric == "time_to_train":
        return "time to train, not speed"
    if accelerator is None:
        return "accelerator not known"
    if accelerator.hbm_gb_per_s is None:
        return "accelerator's bandwidth not known"
    if row.n_layers is None or row.hidden is None or row.n_heads is None:
        return "architecture not known"
    length = row.avg_tokens_per_sample or row.seq_len or ASSUMED_LENGTH
    if length > LARGEST_SEQUENCE:
        return "out of range: sample length"
    if (row.tp or 1) * (row.pp or 1) * (row.cp or 1) > row.num_gpus:
        return "out of range: splits exceed the accelerators"
    if (row.pp or 1) > row.n_layers:
        return "out of range: more stages than layers"
    return None


def measured_tokens(row: Measurement) -> float | None:
    """Return tokens/s per accelerator: stated, or from samples/s and the sample's length."""
    if row.tokens_per_s_per_gpu is not None:
        return row.tokens_per_s_per_gpu
    length = row.avg_tokens_per_sample or row.seq_len
    if row.throughput_total is None or length is None:
        return None
    if row.unit == "s/step" and row.global_batch is not None:
        return row.global_batch * length / row.throughput_total / row.num_gpus
    if row.unit.startswith("tokens/s"):
        return row.throughput_total / row.num_gpus
    if row.unit in ("samples/s", "sequences/s"):
        return row.throughput_total * length / row.num_gpus
    return None


def _format(text: str) -> str:
    said = text.casefold()
    for name, found in (
        ("fp4", ("nvfp4", "fp4", "mxfp4")),
        ("fp8", ("fp8", "int8")),
        ("16bit", ("bf16", "fp16", "half", "amp", "mixed")),
        ("tf32", ("tf32",)),
        ("fp32", ("fp32", "float32")),
    ):
        if any(part in said for part in found):
            return name
    return "16bit"


def _network(row: Measurement) -> dict[str, float]:
    assert row.n_layers is not None
    assert row.hidden is not None
    assert row.n_heads is not None
    kv_heads = row.n_kv_heads or row.n_heads
    gated = "swiglu" in row.mlp_type or "geglu" in row.mlp_type
    experts, active = _experts(row.mlp_type)
    ffn = row.ffn_hidden or (8 * row.hidden // 3 if gated else 4 * row.hidden)
    vocab = row.vocab or 32_000
    matrices = 3.0 if gated else 2.0
    encoder = row.model_family.casefold() in ("encoder", "bert")
    q_dim = _q_dim(row, kv_heads=kv_heads, mlp=matrices * row.hidden * ffn * experts, vocab=vocab)
    layer = 2 * row.hidden * q_dim * (1 + kv_heads / row.n_heads) + matrices * row.hidden * ffn * experts
    return {
        "layers": row.n_layers,
        "hidden": row.hidden,
        "q_dim": q_dim,
        "kv_dim": q_dim * kv_heads / row.n_heads,
        "heads": row.n_heads,
        "ffn_hidden": ffn,
        "mlp_matrices": matrices,
        "experts": experts,
        "active_experts": active,
        "vocab": vocab,
        "head_share": MASKED_SHARE if encoder else 1.0,
        "causal": float(not encoder),
        "parameters": row.params_total or row.n_layers * layer + 2 * vocab * row.hidden,
    }


def _experts(mlp_type: str) -> tuple[float, float]:
    """Read the number of experts and of those that a token meets: `swiglu-moe(128,top8)`, `swiglu MoE 8x top2`."""
    found = re.search(r"moe\D*?(\d+)\D+?(\d+)", mlp_type, re.IGNORECASE)
    return (float(found[1]), float(found[2])) if found else (1.0, 1.0)


def _q_dim(row: Measurement, *, kv_heads: int, mlp: float, vocab: int) -> float:
    """Return heads x their size: the hidden size, unless the parameter count says that heads are wider."""
    assert row.n_layers is not None
    assert row.hidden is not None
    assert row.n_heads is not None
    usual = float(row.hidden)
    if row.params_total is None:
        return usual
    attention = 2 * row.hidden * usual * (1 + kv_heads / row.n_heads)
    ratios = [
        (row.params_total - heads * vocab * row.hidden - row.n_layers * mlp) / row.n_layers / attention
        for heads in (1, 2)
    ]
    nearest = min(ratios, key=lambda ratio: abs(ratio - 1))
    return usual * 2 if 1.7 < nearest < 2.3 and row.hidden // row.n_heads < 128 else usual


def _training(row: Measurement, number_format: str) -> dict[str, float]:
    said = " ".join((row.compile_kernels, row.method)).casefold()
    method = row.method.casefold() or said
    adapters = "lora" in method or "peft" in method
    quantized = "qlora" in method or any(part in row.quantization.casefold() for part in ("nf4", "int4"))
    attention = row.flash_attention.casefold()
    year = _year(row)
    if attention:
        flash = 0.0 if attention.startswith("no") else 1.0
    elif "flash" in said or "transformerengine" in said:
        flash = 1.0
    else:
        flash = float(year >= FUSED_ATTENTION_YEAR and not old_stack(row))
    recompute = {"full": 1.0, "selective": 0.3, "minimal_flash": 0.3, "gelu recompute": 0.05}
    asked = row.activation_checkpointing.casefold()
    recomputed = 1.0 if asked.startswith("full") else recompute.get(asked, 0.0)
    if asked.startswith("full") is False and "likely on" in asked:
        recomputed = 1.0
    amp = "amp" in row.precision.casefold() or number_format in ("fp32", "tf32")
    return {
        "adapters": float(adapters),
        "quantized": float(quantized),
        "recompute": recomputed,
        "host_scale": 1.0,
        "attention_scale": 1.0,
        "elementwise_scale": 1.0,
        "flash": flash,
        "native": float(any(part in said + attention for part in ("transformerengine", "cudnn", "fa3", "fa4"))),
        "fused": fused_share(said + " " + row.framework.casefold()),
        "gradient_bytes": 4.0 if amp else 2.0,
        "zero": float(_zero(row)),
        "optimizer_offload": float(any(part in row.offload.casefold() for part in ("optimizer", "params", "likely"))),
    }


def fused_share(said: str) -> float:
    """Return how far kernels are fused, 0 to 1, from the words that frameworks use."""
    said = said.replace("cross entropy", "")
    if "torch.compile" in said or "xla" in said or "transformerengine" in said or "liger" in said or "cuda/c" in said:
        return 1.0
    if "foak" in said or "fused" in said:
        return 0.7
    if "megatron" in said:
        return 0.9
    if any(part in said for part in ("ngc", "flash-attn(triton", "nemo", "colossal")):
        return 0.5
    return 0.0


def old_stack(row: Measurement) -> bool:
    """Say whether the framework is of a kind that writes the attention matrix out."""
    said = row.framework.casefold()
    return "ngc" in said or "deepspeed" in said


def _year(row: Measurement) -> int:
    found = re.match(r"\d{4}", row.source_date)
    return int(found[0]) if found else 2026


def _zero(row: Measurement) -> int:
    said = f"{row.zero} {row.parallelism}".casefold()
    if any(part in said for part in ("shard_grad_op", "zero2", "zero-2")):
        return 2
    if any(part in said for part in ("fsdp", "zero-3", "zero3", "full_shard", "hsdp", "gemini")):
        return 3
    if any(part in said for part in ("zero-1", "zero1", "distributed optimizer", "sharded optimizer")):
        return 1
    found = re.match(r"[0-3](?=\.0|$)", row.zero.strip())
    return int(found[0]) if found else 0


def _spread(row: Measurement) -> dict[str, float]:
    tp, pp, cp, ep = (float(value or 1) for value in (row.tp, row.pp, row.cp, row.ep))
    said = row.parallelism.casefold()
    if row.tp is None and (found := re.search(r"\btp\s?(\d+)", said)):
        tp = float(found[1])
    if row.pp is None and (found := re.search(r"\bpp\s?(\d+)", said)):
        pp = float(found[1])
    if row.cp is None and (found := re.search(r"cp\s?(\d+)", said)):
        cp = float(found[1])
    splits = tp * pp * cp
    if splits > row.num_gpus or row.num_gpus % splits:
        tp = pp = cp = splits = 1.0
    dp = row.num_gpus / splits
    hybrid = "hsdp" in f"{row.parallelism} {row.zero}".casefold()
    shards = min(dp, float(row.gpus_per_node or 8)) if hybrid else dp * cp
    return {
        "shards": shards,
        "dp": dp,
        "tp": tp,
        "pp": pp,
        "cp": cp,
        "ep": min(ep, row.num_gpus / pp),
        "chunks": float(row.vpp or 1),
    }


def _machine(row: Measurement, accelerator: Accelerator) -> dict[str, float]:
    per_node = min(row.gpus_per_node or 8, row.num_gpus)
    max(1, -(-row.num_gpus // per_node))
    wires = links(
        accelerator,
        per_node=per_node,
        slots=per_node,
        link=parse_link(row.interconnect_intra, accelerator),
        network_gbit_per_s=parse_network_gbit(row.interconnect_inter),
    )
    return {
        "gpus_per_node": per_node,
        "nvlink_domain": wires.domain,
        "intra": wires.intra,
        "through_host": float(wires.through_host),
        "bus_sharers": wires.bus_sharers,
        "pcie": float(wires.pcie),
        "inter": wires.inter,
    }


def _batches(row: Measurement, config: Mapping[str, float], accelerator: Accelerator) -> dict[str, float]:
    """Return sample length, micro-batch and accumulation; a batch that is not stated is what would fit."""
    packed = (
        "padding-free" not in row.packing
        and "unpacked" not in row.packing
        and row.packing.startswith(("packed", "concat"))
    )
    ragged = any(word in row.packing for word in ("padding-free", "padded", "unpacked", "group_by_length"))
    length = (row.seq_len if packed else None) or row.avg_tokens_per_sample or row.seq_len or ASSUMED_LENGTH
    replicas = config["dp"]
    micro = row.micro_batch
    accumulation = row.grad_accum
    if micro is None and row.global_batch is not None:
        micro = max(1.0, row.global_batch / replicas / (accumulation or 1))
    if micro is None:
        per_sample = REMEMBERED_BYTES * config["layers"] * config["hidden"] * length / config["tp"] / config["pp"]
        free = 0.5 * (accelerator.hbm_gib or 16) * 2**30
        micro = float(2 ** max(0, int(free / per_sample).bit_length() - 1))
        if row.global_batch is not None:
            micro = min(micro, max(1.0, row.global_batch / replicas))
    if accumulation is None:
        accumulation = max(1.0, row.global_batch / replicas / micro) if row.global_batch is not None else 1.0
    return {"seq_len": length, "ragged": float(ragged), "micro_batch": micro, "micro_batches": max(1.0, accumulation)}


def framework_family(row: Measurement) -> str:
    """Return a framework's name without release numbers, with the trainer that stands over it left out."""
    said = row.framework.casefold()
    for family, words in _FRAMEWORKS:
        if any(word in said for word in words):
            return family
    return re.sub(r"[^a-z]+", " ", said).strip() or "not stated"


_FRAMEWORKS = (
    ("megatron", ("megatron", "nemo framework", "gpt-neox", "mcore")),
    ("deepspeed", ("deepspeed",)),
    ("hf trainer", ("hf ", "trl", "peft", "sfttrainer", "transformers", "llama-factory", "accelerate")),
    ("torchtune", ("torchtune",)),
    ("torchtitan", ("torchtitan",)),
    ("composer", ("composer", "llm-foundry")),
    ("deeplearningexamples", ("deeplearningexamples", "pytorch ngc")),
    ("tensorflow ngc", ("tensorflow",)),
    ("jax", ("jax", "maxtext")),
    ("lightning", ("lightning", "lit-", "litgpt")),
)
