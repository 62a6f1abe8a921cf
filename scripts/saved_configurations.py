"""Saves configurations of all text networks with a formula, built by transformers, with their parameter counts.

    pip install -e '.[configs]'; python -m scripts.saved_configurations

Writes tests/adapters/saved_configurations.jsonl, which holds expected values of tests. Classes are built on the meta
device, without memory for weights.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path("tests/adapters/saved_configurations.jsonl")
SIZES: dict[str, Any] = {
    "num_hidden_layers": 4, "hidden_size": 1024, "num_attention_heads": 16, "num_key_value_heads": 4,
    "intermediate_size": 4096, "vocab_size": 32000, "pad_token_id": 0,
}  # fmt: skip
EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 512, "head_dim": 64}
HEAD = {"head_dim": 64}
OLDER = {"n_layer": 4, "n_embd": 1024, "n_head": 16, "vocab_size": 32000}
DECODERS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(
        (
            "apertus", "arcee", "cohere", "exaone", "falcon", "granite", "granitemoe", "internlm3", "llama", "mistral",
            "nanochat", "olmo", "olmo2", "olmo3", "olmoe", "phi", "phi3", "phimoe", "qwen2", "smollm3", "stablelm",
            "starcoder2",
        ),
        SIZES,
    ),
    **dict.fromkeys(
        (
            "cohere2", "cwm", "ernie4_5", "exaone4", "gemma", "gemma2", "gemma3_text", "glm", "glm4", "helium",
            "hunyuan_v1_dense", "iquestcoder", "jais2", "ministral", "ministral3", "nemotron", "qwen3", "seed_oss",
            "vaultgemma",
        ),
        SIZES | HEAD,
    ),
    "gpt_neox": SIZES | {"num_key_value_heads": 16},
    **dict.fromkeys(("gpt2", "gpt_bigcode", "gptj"), OLDER),
    "opt": {
        "num_hidden_layers": 4, "hidden_size": 1024, "num_attention_heads": 16, "ffn_dim": 4096,
        "word_embed_proj_dim": 1024,
    },
    "mixtral": SIZES | {"num_local_experts": 8},
    "qwen2_moe": SIZES | EXPERTS | {"num_experts": 8, "shared_expert_intermediate_size": 1024},
    "qwen3_moe": SIZES | EXPERTS | {"num_experts": 8},
    "glm4_moe": SIZES | EXPERTS | {"n_routed_experts": 8},
    "dots1": SIZES | EXPERTS | {"n_routed_experts": 8, "n_shared_experts": 2, "first_k_dense_replace": 1},
    "ernie4_5_moe": SIZES | EXPERTS | {"moe_num_experts": 8, "moe_k": 2},
    "gpt_oss": SIZES | HEAD | {"num_local_experts": 8},
    "minimax_m2": SIZES | HEAD | {"num_local_experts": 8},
    "llama4_text": SIZES | HEAD | {"intermediate_size_mlp": 8192, "num_local_experts": 8},
}  # fmt: skip
ENCODERS = ("bert", "camembert", "distilbert", "modernbert", "roberta", "xlm-roberta")
SWITCHES = (
    "attention_bias", "attention_out_bias", "classifier_bias", "decoder_bias", "lm_head_bias", "mlp_bias",
    "new_decoder_architecture", "norm_bias", "qk_layernorm", "tie_word_embeddings", "use_bias",
    "use_parallel_residual", "use_qk_norm", "use_qkv_bias",
)  # fmt: skip
"""Settings that add or remove norms, biases and the head. Each family has a few of them."""


class SavedConfiguration(NamedTuple):
    """A configuration in its published and in its complete form, with the parameters of its class."""

    name: str
    published: dict[str, Any]
    whole: dict[str, Any]
    parameters: int


def names() -> list[str]:
    """Return the names of the configurations: each family, and each family with all its switches turned over."""
    return [f"{family}{turned}" for family in (*ENCODERS, *DECODERS) for turned in ("", ", turned")]


def saved(name: str) -> SavedConfiguration | None:
    """Build a configuration and its class; None for a turned family without switches."""
    import torch
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoModelForMaskedLM

    family, _, turned = name.partition(", ")
    sizes = dict(DECODERS.get(family, {}))
    config = CONFIG_MAPPING[family](**sizes)
    if turned:
        found = {key: not getattr(config, key) for key in SWITCHES if isinstance(getattr(config, key, None), bool)}
        if not found:
            return None
        config = CONFIG_MAPPING[family](**sizes | found)
    with torch.device("meta"):
        model = (AutoModelForMaskedLM if family in ENCODERS else AutoModelForCausalLM).from_config(config)
    model.tie_weights()
    classes = {"architectures": [type(model).__name__]}
    published, whole = (json.loads(config.to_json_string(use_diff=diff)) | classes for diff in (True, False))
    unique = {id(parameter): parameter.numel() for parameter in model.parameters()}
    return SavedConfiguration(name, published, whole, sum(unique.values()))


def main() -> None:
    """Write the file."""
    rows = [found for name in names() if (found := saved(name)) is not None]
    lines = [json.dumps({"name": row.name, "parameters": row.parameters, "config": row.published}) for row in rows]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
