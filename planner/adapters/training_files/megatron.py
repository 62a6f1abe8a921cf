"""Megatron-LM's arguments: `--num-layers 32 --hidden-size 4096 --micro-batch-size 1 ...`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import Keys

MEGATRONS_TOP_K = 2
"""Experts per token if `--moe-router-topk` is left out."""


def reads(data: Mapping[str, Any]) -> bool:
    """Return whether arguments are of Megatron-LM."""
    return "num_layers" in data and "hidden_size" in data and "micro_batch_size" in data


def facts(data: Mapping[str, Any]) -> Facts:
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
