"""A Hugging Face config.json as an architecture: sizes against published counts, refusals by name, wrong values."""

from __future__ import annotations

from typing import Any

import pytest

from planner.adapters.model_config.reader import architecture_of, is_model_config
from planner.errors import InputError
from planner.model.network.architecture import Encoder, MoeDecoder, is_same_network
from planner.network.flops import parameters

LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "max_position_embeddings": 8192, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
    "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "tie_word_embeddings": False, "vocab_size": 128256,
}  # fmt: skip
QWEN_MOE = {
    "model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632, "max_position_embeddings": 8192,
    "num_attention_heads": 16, "num_hidden_layers": 24, "num_key_value_heads": 16, "moe_intermediate_size": 1408,
    "num_experts": 60, "num_experts_per_tok": 4, "shared_expert_intermediate_size": 5632, "decoder_sparse_step": 1,
    "tie_word_embeddings": False, "vocab_size": 151936,
}  # fmt: skip
DEEPSEEK = {
    "model_type": "deepseek", "vocab_size": 102400, "hidden_size": 2048, "intermediate_size": 10944,
    "moe_intermediate_size": 1408, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16,
    "n_shared_experts": 2, "n_routed_experts": 64, "num_experts_per_tok": 6, "moe_layer_freq": 1,
    "first_k_dense_replace": 1, "max_position_embeddings": 4096, "tie_word_embeddings": False,
}  # fmt: skip
GPT_OSS = {
    "model_type": "gpt_oss", "num_hidden_layers": 24, "hidden_size": 2880, "intermediate_size": 2880, "head_dim": 64,
    "num_attention_heads": 64, "num_key_value_heads": 8, "num_local_experts": 32, "num_experts_per_tok": 4,
    "max_position_embeddings": 131072, "rope_theta": 150000, "vocab_size": 201088, "tie_word_embeddings": False,
    "layer_types": ["sliding_attention", "full_attention"] * 12, "sliding_window": 128,
}  # fmt: skip
GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257}
BERT = {
    "model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "max_position_embeddings": 512, "vocab_size": 30522, "layer_norm_eps": 1e-12,
}  # fmt: skip
DISTILBERT = {
    "model_type": "distilbert", "dim": 768, "n_layers": 6, "n_heads": 12, "hidden_dim": 3072, "vocab_size": 30522,
    "max_position_embeddings": 512,
}  # fmt: skip
VIT = {
    "model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "patch_size": 16, "image_size": 224, "id2label": {str(n): "x" for n in range(1000)},
}  # fmt: skip
RESNET = {
    "model_type": "resnet", "depths": [3, 4, 6, 3], "hidden_sizes": [256, 512, 1024, 2048], "embedding_size": 64,
    "layer_type": "bottleneck",
}  # fmt: skip
GLM = {
    "model_type": "chatglm", "num_layers": 40, "hidden_size": 4096, "num_attention_heads": 32, "ffn_hidden_size": 13696,
    "multi_query_attention": True, "multi_query_group_num": 2, "padded_vocab_size": 151552, "seq_length": 131072,
    "tie_word_embeddings": False,
}  # fmt: skip
FALCON = {
    "model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71, "bias": False,
    "multi_query": True, "new_decoder_architecture": False, "alibi": False, "vocab_size": 65024,
}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "published"),
    [
        pytest.param(LLAMA, 8.03e9, id="Llama 3 8B"),
        pytest.param(LLAMA | {"vocab_size": 32000, "model_type": "mistral"}, 7.24e9, id="Mistral 7B"),
        pytest.param(
            LLAMA | {"model_type": "mixtral", "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2},
            46.7e9,
            id="Mixtral 8x7B",
        ),
        pytest.param(QWEN_MOE, 14.3e9, id="Qwen1.5 MoE A2.7B"),
        pytest.param(DEEPSEEK, 16.4e9, id="DeepSeekMoE 16B"),
        pytest.param(GPT_OSS, 20.9e9, id="gpt-oss 20B"),
        pytest.param(GLM, 9.4e9, id="GLM-4 9B"),
        pytest.param(FALCON, 6.92e9, id="Falcon 7B: one key and value head, four times the width, tied"),
        pytest.param(GPT2, 124.4e6, id="GPT-2: sizes under their old names"),
        pytest.param(BERT, 109.5e6, id="BERT base"),
        pytest.param(DISTILBERT, 66.4e6, id="DistilBERT"),
        pytest.param(VIT, 86.57e6, id="ViT-B/16"),
        pytest.param(RESNET, 25.56e6, id="ResNet-50"),
    ],
)
def test_a_configuration_has_the_published_number_of_parameters(config: dict[str, Any], published: float) -> None:
    assert is_model_config(config)
    assert parameters(architecture_of(config, where="config.json")) == pytest.approx(published, rel=0.01)


def test_a_network_is_the_same_whether_its_biases_are_counted_or_not() -> None:
    """A record of an older planner states sizes alone."""
    counted = architecture_of(QWEN_MOE, where="c")
    assert isinstance(counted, MoeDecoder)
    assert counted.vectors is not None
    plain = counted.model_copy(update={"vectors": None})
    assert is_same_network(counted, plain)
    assert is_same_network(plain, counted)
    assert not is_same_network(counted, plain.model_copy(update={"layers": counted.layers + 1}))


def test_a_classifier_that_names_no_labels_has_two() -> None:
    """transformers saves no labels where there are its usual two: 998 rows of 768 and their biases fewer."""
    unnamed = {key: value for key, value in VIT.items() if key != "id2label"}
    classifier = unnamed | {"architectures": ["ViTForImageClassification"]}
    of_two, of_thousand = (parameters(architecture_of(config, where="c")) for config in (classifier, VIT))
    assert of_thousand - of_two == 998 * (768 + 1)
    assert parameters(architecture_of(unnamed, where="c")) == of_thousand


def test_the_class_says_the_family_where_model_type_is_left_out() -> None:
    unnamed = {key: value for key, value in LLAMA.items() if key != "model_type"}
    assert architecture_of(unnamed, where="c") == architecture_of(LLAMA, where="c")


def test_what_is_null_counts_as_left_out() -> None:
    network = architecture_of(LLAMA | {"head_dim": None, "num_key_value_heads": None}, where="c")
    assert (network.head_dim, network.kv_heads) == (128, 32)


def test_dense_layers_of_a_mixture_are_those_that_its_keys_name() -> None:
    stepped = architecture_of(QWEN_MOE | {"decoder_sparse_step": 2, "mlp_only_layers": [3]}, where="c")
    assert isinstance(stepped, MoeDecoder)
    assert stepped.dense_layers == (0, 2, 3, *range(4, 24, 2))  # sparse: every second, 1, 3, 5, ..., but 3
    assert architecture_of(DEEPSEEK, where="c").dense_layers == (0,)


def test_an_encoder_is_one() -> None:
    assert isinstance(architecture_of(BERT, where="c"), Encoder)


@pytest.mark.parametrize(
    ("config", "missing"),
    [
        pytest.param({"model_type": "mamba"}, "'mamba': the planner has no formula for state-space layers", id="mamba"),
        pytest.param({"model_type": "deepseek_v3"}, "latent attention", id="DeepSeek-V3"),
        pytest.param(DEEPSEEK | {"kv_lora_rank": 512}, "latent attention", id="ranks in a known family"),
        pytest.param({"model_type": "t5"}, "cross-attention", id="T5"),
        pytest.param({"model_type": "deberta-v2"}, "disentangled attention", id="DeBERTa"),
        pytest.param({"model_type": "bloom"}, "ALiBi", id="BLOOM"),
        pytest.param(GPT2 | {"add_cross_attention": True}, "cross-attention", id="GPT-2 of an encoder and a decoder"),
        pytest.param(FALCON | {"alibi": True}, "ALiBi", id="Falcon with ALiBi"),
        pytest.param({"model_type": "convnext"}, "image networks", id="ConvNeXt"),
        pytest.param(LLAMA | {"layer_types": ["linear_attention"]}, "linear_attention", id="another kind of layer"),
        pytest.param({"model_type": "llava", "text_config": LLAMA}, "several networks in one", id="LLaVA"),
        pytest.param({"model_type": "newthing", "text_config": LLAMA}, "several networks in one", id="a nested one"),
        pytest.param({"model_type": "newthing"}, "does not know this family", id="unknown"),
        pytest.param({"architectures": ["NewThingForCausalLM"]}, "does not know this family", id="an unknown class"),
        pytest.param(RESNET | {"layer_type": "basic"}, "bottleneck", id="ResNet-18"),
    ],
)
def test_what_the_planner_has_no_formula_for_is_refused_by_name(config: dict[str, Any], missing: str) -> None:
    with pytest.raises(InputError, match=missing) as error:
        architecture_of(config, where="models/config.json")
    assert error.value.message.startswith("models/config.json: ")
    assert error.value.fix


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param({"hidden_size": float("nan")}, "hidden_size: must be a whole number", id="NaN for a size"),
        pytest.param({"rope_theta": float("inf")}, "rope_theta: must be a finite number", id="infinity"),
        pytest.param({"rms_norm_eps": float("nan")}, "rms_norm_eps: must be a finite number", id="NaN for a number"),
        pytest.param({"num_hidden_layers": -32}, "num_hidden_layers: must be a whole number", id="negative"),
        pytest.param({"num_hidden_layers": 0}, "num_hidden_layers: must be a whole number", id="zero"),
        pytest.param({"vocab_size": [1, 2]}, "vocab_size: must be a whole number .*a list", id="a list"),
        pytest.param({"vocab_size": {"a": 1}}, "vocab_size: must be a whole number .*a mapping", id="a mapping"),
        pytest.param({"vocab_size": 10**400}, "vocab_size: .*401 digits", id="endless digits"),
        pytest.param({"rope_theta": 10**400}, "rope_theta: .*401 digits", id="endless digits of a number"),
        pytest.param({"hidden_size": True}, "hidden_size: must be a whole number", id="true for a size"),
        pytest.param({"hidden_size": "4096"}, "hidden_size: must be a whole number", id="a size in quotes"),
        pytest.param({"tie_word_embeddings": 1}, "tie_word_embeddings: must be true or false", id="1 for true"),
        pytest.param({"model_type": 7}, "model_type: must be a text", id="a number for the family"),
        pytest.param({"model_type": ["llama"]}, "model_type: must be a text", id="a list for the family"),
        pytest.param({"layer_types": "full"}, "layer_types: must be a list of texts", id="a text for a list"),
        pytest.param({"num_key_value_heads": 5}, "multiple of kv_heads", id="heads that do not divide"),
        pytest.param({"vocab_size": None}, "vocab_size: is missing", id="null for what is needed"),
    ],
)
def test_a_wrong_value_is_one_clear_error(change: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as error:
        architecture_of(LLAMA | change, where="c.json")
    assert len(error.value.message) < 300
    assert error.value.fix


@pytest.mark.parametrize(
    ("config", "says"),
    [
        pytest.param(QWEN_MOE | {"num_hidden_layers": 10**9}, "num_hidden_layers: .* 1 to 10,000", id="Qwen MoE"),
        pytest.param(DEEPSEEK | {"num_hidden_layers": 10_001}, "num_hidden_layers: .* 1 to 10,000", id="DeepSeek"),
        pytest.param(GPT2 | {"n_layer": 10**9}, "n_layer: .* 1 to 10,000", id="a dense one"),
        pytest.param(
            RESNET | {"depths": [1] * 120_000, "hidden_sizes": [256] * 120_000}, "depths: .* 1 to 8", id="ResNet"
        ),
        pytest.param(RESNET | {"depths": []}, "depths: .* 1 to 8 stages", id="ResNet without stages"),
    ],
)
def test_a_network_deeper_than_any_is_refused_before_its_layers_are_listed(config: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        architecture_of(config, where="c.json")


def test_mappings_of_ours_are_no_configurations() -> None:
    assert not is_model_config({"architecture": {}, "seq_len": 1})
    assert not is_model_config({"layers": 2, "hidden": 64})
