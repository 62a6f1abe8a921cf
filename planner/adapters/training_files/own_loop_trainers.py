"""Configurations of trainers with a training loop of their own: Megatron-LM, torchtitan, torchtune, verl."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import Keys, objective_of, optimizer_of, precision_of, put

MEGATRONS_TOP_K = 2
"""Experts per token if `--moe-router-topk` is left out."""


def is_megatron(data: Mapping[str, Any]) -> bool:
    """Return whether arguments are of Megatron-LM."""
    return "num_layers" in data and "hidden_size" in data and "micro_batch_size" in data


def megatron_facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in arguments, with the sizes of the network.

    Often only the tokenizer has the vocabulary size.
    """
    keys = Keys(data)
    network = _network(keys)
    tensor, pipeline = keys.count("tensor_model_parallel_size"), keys.count("pipeline_model_parallel_size")
    recompute = keys.text("recompute_granularity")
    if recompute is None and keys.flag("recompute_activations"):
        recompute = "selective"
    return Facts(
        model=keys.text("tokenizer_model") if "vocab_size" not in network else None,
        network=network,
        method="full",
        micro_batch=keys.count("micro_batch_size"),
        global_batch=keys.count("global_batch_size"),
        seq_len=keys.count("seq_length"),
        planned_steps=keys.count("train_iters"),
        precision="bf16" if keys.flag("bf16") else "fp16" if keys.flag("fp16") else "fp32",
        strategy="zero1" if keys.flag("use_distributed_optimizer") else "ddp",
        checkpointing=recompute if recompute in ("full", "selective") else None,
        optimizer="sgd" if keys.text("optimizer") == "sgd" else "adamw",
        padded=False,
        devices=keys.count("world_size"),
        tensor=tensor if tensor != 1 else None,
        pipeline=pipeline if pipeline != 1 else None,
        framework="Megatron-LM",
    )


def _network(keys: Keys) -> dict[str, object]:
    """Return the sizes as a config.json of the matching family has them."""
    heads, hidden = keys.count("num_attention_heads"), keys.count("hidden_size")
    groups = keys.count("num_query_groups") if keys.flag("group_query_attention") is not False else None
    rope = keys.text("position_embedding_type") == "rope" or keys.flag("use_rotary_position_embeddings")
    dense = "llama" if keys.flag("swiglu") else "gpt_neox" if rope else "gpt2"
    width = keys.count("ffn_hidden_size") or (4 * hidden if hidden else None)
    experts, shared = keys.count("num_experts"), keys.count("moe_shared_expert_intermediate_size")
    expert_width = keys.count("moe_ffn_hidden_size") or width
    stated = {
        "model_type": dense if experts is None else "qwen2_moe" if shared else "mixtral",
        "num_hidden_layers": keys.count("num_layers"),
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": groups or heads,
        "intermediate_size": width if experts is None or shared else expert_width,
        "num_experts": experts,
        "num_experts_per_tok": (keys.count("moe_router_topk") or MEGATRONS_TOP_K) if experts else None,
        "moe_intermediate_size": expert_width if shared else None,
        "shared_expert_intermediate_size": shared,
        "kv_lora_rank": 1 if keys.flag("multi_latent_attention") else None,  # refused, whatever the value
        "vocab_size": keys.count("vocab_size", "padded_vocab_size"),
        "max_position_embeddings": keys.count("max_position_embeddings", "seq_length"),
        "head_dim": keys.count("kv_channels"),
        "tie_word_embeddings": keys.flag("untie_embeddings_and_output_weights") is not True,
    }
    return {name: value for name, value in stated.items() if value is not None}


TORCHTITAN_FAMILIES = {"llama3": "llama-3.1", "llama2": "llama-2", "qwen3": "qwen3", "llama4": "llama-4"}
CHECKPOINTING = {"none": "none", "selective": "selective", "full": "full"}


def is_torchtitan(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a job of torchtitan."""
    return isinstance(data.get("model"), Mapping) and "flavor" in data["model"]


def torchtitan_facts(data: Mapping[str, Any]) -> Facts:
    """Return the facts in a job. Its data are packed; its weights are sharded by FSDP2 unless replicated."""
    keys = Keys(data)
    name, flavor = keys.text("model.name") or "", keys.text("model.flavor") or ""
    shards = keys.value("parallelism.data_parallel_shard_degree")
    replicas = keys.count("parallelism.data_parallel_replicate_degree")
    parts = [replicas or 1, shards if isinstance(shards, int) and shards > 0 else None]
    tensor, pipeline = (
        keys.count("parallelism.tensor_parallel_degree"),
        keys.count("parallelism.pipeline_parallel_degree"),
    )
    context = keys.count("parallelism.context_parallel_degree") or 1
    devices = parts[0] * parts[1] * (tensor or 1) * (pipeline or 1) * context if parts[0] and parts[1] else None
    return Facts(
        model=f"{TORCHTITAN_FAMILIES.get(name, name)}-{flavor.casefold()}" if name and flavor else None,
        method="full",
        micro_batch=keys.count("training.local_batch_size", "training.batch_size"),
        global_batch=keys.count("training.global_batch_size"),
        seq_len=keys.count("training.seq_len"),
        planned_steps=keys.count("training.steps"),
        precision="float8" if "float8" in str(keys.value("model.converters") or "") else "bf16",
        strategy="ddp" if shards == 1 and (replicas or 1) > 1 else "fsdp2",
        checkpointing=CHECKPOINTING.get(keys.text("activation_checkpoint.mode") or ""),
        optimizer=optimizer_of(keys.text("optimizer.name")),
        compiled=keys.flag("compile.enable", "training.compile"),
        padded=False,
        devices=devices,
        tensor=tensor if tensor != 1 else None,
        pipeline=pipeline if pipeline != 1 else None,
        framework="torchtitan",
    )


BUILDER = re.compile(r"torchtune\.models\.(\w{1,40})\.(q?lora_|dora_|qdora_)?(\w{1,60})")
TORCHTUNE_FAMILIES = {
    "llama3_1": "llama-3.1", "llama3_2": "llama-3.2", "llama3_3": "llama-3.3", "llama3": "llama-3", "llama2": "llama-2",
    "qwen2_5": "qwen2.5", "qwen2": "qwen2", "qwen3": "qwen3", "gemma2": "gemma-2", "gemma": "gemma",
    "mistral": "mistral", "phi3": "phi-3", "phi4": "phi-4",
}  # fmt: skip
"""Our names of network families, by the module of a builder."""


def is_torchtune(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a configuration of torchtune."""
    return "torchtune" in str(Keys(data).value("model._component_") or "")


def torchtune_facts(data: Mapping[str, Any]) -> Facts:
    """Return what a configuration states."""
    keys = Keys(data)
    found = BUILDER.search(str(keys.value("model._component_")))
    adapter = (found[2] or "") if found else ""
    targets = list(keys.words("model.lora_attn_modules") or ())
    targets += ["gate_proj", "up_proj", "down_proj"] if keys.flag("model.apply_lora_to_mlp") else []
    packed = keys.flag("dataset.packed", "tokenizer.packed")
    recomputed = keys.flag("enable_activation_checkpointing")
    loss = keys.text("loss._component_") or ""
    return Facts(
        model=network_name(found[1], found[3]) if found else None,
        method="lora" if adapter else "full",
        lora_rank=keys.count("model.lora_rank") if adapter else None,
        lora_targets=tuple(targets) or None,
        quantized=True if adapter.startswith("q") else None,
        micro_batch=keys.count("batch_size"),
        accumulation=keys.count("gradient_accumulation_steps"),
        seq_len=keys.count("tokenizer.max_seq_len", "dataset.max_seq_len"),
        epochs=keys.number("epochs"),
        precision=precision_of(keys.text("dtype")),
        weights="16bit" if precision_of(keys.text("dtype")) in ("bf16", "fp16") else None,
        checkpointing=None if recomputed is None else "full" if recomputed else "none",
        optimizer=optimizer_of(keys.text("optimizer._component_")),
        padded=None if packed is None else not packed,
        compiled=keys.flag("compile"),
        objective=objective_of(loss.rpartition(".")[2].removesuffix("Loss")),
        loss="chunked" if "Chunked" in loss or "Linear" in loss else None,
        framework="torchtune",
    )


def network_name(module: str, builder: str) -> str:
    """Return the network that a builder makes: `qwen2_5_0_5b` of qwen2_5 is qwen2.5-0.5b."""
    family = TORCHTUNE_FAMILIES.get(module, module.replace("_", "-"))
    size = builder.removeprefix(module).strip("_") or builder
    return f"{family}-{re.sub(r'(?<=[0-9])_(?=[0-9])', '.', size).replace('_', '-')}"


ROOT = "actor_rollout_ref"
DEFAULT_ESTIMATOR = "gae"
ESTIMATORS = {"gae": "ppo"}
"""Estimators of advantages: PPO's with a critic. The others are named like their objective (grpo, rloo)."""
STRATEGIES = {"fsdp": "fsdp2", "fsdp2": "fsdp2"}


def is_verl(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a configuration of verl, nested or with dotted names."""
    return any(str(name).partition(".")[0] == ROOT for name in data)


def verl_facts(data: Mapping[str, Any]) -> Facts:
    """Return what a configuration states; an engine gives its cache back unless `free_cache_engine` is off."""
    nested: dict[str, Any] = {}
    for name, value in data.items():
        put(nested, str(name), value)
    keys = Keys(nested)
    actor, rollout = f"{ROOT}.actor", f"{ROOT}.rollout"
    rank = keys.count(f"{ROOT}.model.lora_rank")
    recomputed = keys.flag(f"{ROOT}.model.enable_gradient_checkpointing")
    lengths = [keys.count("data.max_prompt_length"), keys.count("data.max_response_length")]
    estimator = keys.text("algorithm.adv_estimator") or DEFAULT_ESTIMATOR
    nodes, each = keys.count("trainer.nnodes") or 1, keys.count("trainer.n_gpus_per_node")
    freed = keys.flag(f"{rollout}.free_cache_engine")
    return Facts(
        model=keys.text(f"{ROOT}.model.path"),
        objective=ESTIMATORS.get(estimator, estimator),
        group=keys.count(f"{rollout}.n"),
        engine_share=keys.number(f"{rollout}.gpu_memory_utilization"),
        engine_sleep=0 if freed is False else None,
        micro_batch=keys.count(f"{actor}.ppo_micro_batch_size_per_gpu"),
        seq_len=sum(part for part in lengths if part is not None) or None,
        strategy=STRATEGIES.get(keys.text(f"{actor}.strategy") or "fsdp"),
        checkpointing=None if recomputed is None else "full" if recomputed else "none",
        method="lora" if rank else "full",
        lora_rank=rank,
        lora_targets=keys.words(f"{ROOT}.model.target_modules") if rank else None,
        epochs=keys.number("trainer.total_epochs"),
        planned_steps=keys.count("trainer.total_training_steps"),
        padded=None if (removed := keys.flag(f"{ROOT}.model.use_remove_padding")) is None else not removed,
        devices=None if each is None else each * nodes,
        nodes=nodes,
        framework="PyTorch",
    )
