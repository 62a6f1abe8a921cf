"""config.json as transformers 5 saves it again: the parameters of the class built on the meta device (extra `configs`).

Not part of the usual tests: transformers is in no other extra. Install it with: pip install -e '.[configs]'.
"""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from planner.adapters.model_config.reader import architecture_of
from planner.network.flops import parameters

HAS_TRANSFORMERS = importlib.util.find_spec("transformers") is not None
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_TRANSFORMERS, reason="needs the extra configs"),
]
EXACT, LEFT_OUT = 0.0, 0.01
"""Of what `text_families.py` leaves out, under a hundredth of the parameters of a published network."""
SIZES = {
    "num_hidden_layers": 4, "hidden_size": 1024, "num_attention_heads": 16, "num_key_value_heads": 4,
    "intermediate_size": 4096, "vocab_size": 32000, "pad_token_id": 0,
}  # fmt: skip
EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 512, "head_dim": 64}
FAMILIES: dict[str, tuple[dict[str, Any], float]] = {
    "llama": ({}, EXACT),
    "mistral": ({}, EXACT),
    "qwen3": ({"head_dim": 128}, EXACT),
    "qwen3_moe": ({**EXPERTS, "num_experts": 8}, EXACT),
    "mixtral": ({"num_local_experts": 8}, EXACT),
    "gemma": ({"head_dim": 64}, EXACT),
    "phi3": ({}, EXACT),
    "granite": ({}, EXACT),
    "granitemoe": ({}, EXACT),
    "smollm3": ({}, EXACT),
    "nemotron": ({"head_dim": 64}, EXACT),
    "gpt_neox": ({"num_key_value_heads": 16}, EXACT),
    "phimoe": ({}, EXACT),
    "glm4_moe": ({**EXPERTS, "n_routed_experts": 8}, EXACT),
    "arcee": ({}, EXACT),
    "helium": ({"head_dim": 64}, EXACT),
    "ernie4_5": ({"head_dim": 64}, EXACT),
    "exaone4": ({"head_dim": 64}, EXACT),
    "hunyuan_v1_dense": ({"head_dim": 64}, EXACT),
    "starcoder2": ({}, EXACT),
    "qwen2": ({}, LEFT_OUT),
    "qwen2_moe": ({**EXPERTS, "num_experts": 8, "shared_expert_intermediate_size": 1024}, LEFT_OUT),
    "gemma2": ({"head_dim": 64}, LEFT_OUT),
    "gemma3_text": ({"head_dim": 64}, LEFT_OUT),
    "olmo": ({}, LEFT_OUT),
    "olmo2": ({}, LEFT_OUT),
    "olmoe": ({}, LEFT_OUT),
    "glm": ({"head_dim": 64}, LEFT_OUT),
    "glm4": ({"head_dim": 64}, LEFT_OUT),
    "seed_oss": ({"head_dim": 64}, LEFT_OUT),
    "cohere": ({}, LEFT_OUT),
    "phi": ({}, LEFT_OUT),
    "gpt_oss": ({"head_dim": 64, "num_local_experts": 8}, LEFT_OUT),
    "ernie4_5_moe": ({**EXPERTS, "moe_num_experts": 8, "moe_k": 2}, LEFT_OUT),
    "minimax_m2": ({"head_dim": 64, "num_local_experts": 8}, LEFT_OUT),
    "llama4_text": ({"head_dim": 64, "intermediate_size_mlp": 8192, "num_local_experts": 8}, LEFT_OUT),
}
ENCODERS = ("bert", "distilbert", "roberta", "xlm-roberta", "camembert", "modernbert")


def saved(family: str, sizes: dict[str, Any], *, masked: bool) -> tuple[dict[str, Any], int]:
    """Return a configuration as transformers saves it whole, and the parameters of its class."""
    import torch
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoModelForMaskedLM

    config = CONFIG_MAPPING[family](**sizes)
    with torch.device("meta"):
        model = (AutoModelForMaskedLM if masked else AutoModelForCausalLM).from_config(config)
    model.tie_weights()
    data = json.loads(config.to_json_string(use_diff=False))
    unique = {id(one): one.numel() for one in model.parameters()}
    return data | {"architectures": [type(model).__name__]}, sum(unique.values())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_saved_configuration_has_the_parameters_of_its_class(family):
    sizes, off = FAMILIES[family]
    data, counted = saved(family, SIZES | sizes, masked=False)
    assert parameters(architecture_of(data, where=family)) == pytest.approx(counted, rel=off, abs=0)


@pytest.mark.parametrize("family", ENCODERS)
def test_encoders_are_counted_to_the_last_parameter(family):
    data, counted = saved(family, {}, masked=True)
    assert parameters(architecture_of(data, where=family)) == counted
