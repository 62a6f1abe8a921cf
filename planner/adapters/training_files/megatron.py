"""Megatron-LM's arguments: `--num-layers 32 --hidden-size 4096 --micro-batch-size 1 ...`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import Keys


def reads(data: Mapping[str, Any]) -> bool:
    """Return whether arguments are of Megatron-LM."""
    return "num_layers" in data and "hidden_size" in data and "micro_batch_size" in data


def facts(data: Mapping[str, Any]) -> Facts:
    """Return what arguments state, the sizes of the network with it; the vocabulary is often in the tokenizer alone."""
    keys = Keys(data)
    heads = keys.count("num_attention_heads")
    groups = keys.count("num_query_groups") if keys.flag("group_query_attention") is not False else None
    hidden = keys.count("hidden_size")
    swiglu = keys.flag("swiglu")
    network = {
        "model_type": "llama" if swiglu else "gpt_neox",
        "num_hidden_layers": keys.count("num_layers"),
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": groups or heads,
        "intermediate_size": keys.count("ffn_hidden_size") or (4 * hidden if hidden else None),
        "vocab_size": keys.count("vocab_size", "padded_vocab_size"),
        "max_position_embeddings": keys.count("max_position_embeddings", "seq_length"),
        "tie_word_embeddings": keys.flag("untie_embeddings_and_output_weights") is not True,
    }
    if head_dim := keys.count("kv_channels"):
        network["head_dim"] = head_dim
    tensor, pipeline = keys.count("tensor_model_parallel_size"), keys.count("pipeline_model_parallel_size")
    recompute = "full" if keys.text("recompute_granularity") == "full" or keys.flag("recompute_activations") else None
    recompute = "selective" if keys.text("recompute_granularity") == "selective" else recompute
    return Facts(
        model=keys.text("tokenizer_model", "load") if not network["vocab_size"] else None,
        network={name: value for name, value in network.items() if value is not None},
        method="full",
        micro_batch=keys.count("micro_batch_size"),
        global_batch=keys.count("global_batch_size"),
        seq_len=keys.count("seq_length"),
        planned_steps=keys.count("train_iters"),
        precision="bf16" if keys.flag("bf16") else "fp16" if keys.flag("fp16") else "fp32",
        strategy="zero1" if keys.flag("use_distributed_optimizer") else "ddp",
        checkpointing=recompute,
        optimizer="sgd" if keys.text("optimizer") == "sgd" else "adamw",
        padded=False,
        devices=keys.count("world_size"),
        tensor=tensor if tensor != 1 else None,
        pipeline=pipeline if pipeline != 1 else None,
        framework="Megatron-LM",
    )
