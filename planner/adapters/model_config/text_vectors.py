"""Parameters of a text network outside its matrices: norms, biases, gates and sinks, by family.

Source: the modules of huggingface/transformers, src/transformers/models/*/modeling_*.py. The totals equal those
modules' own counts (tests/adapters/test_saved_configurations.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.adapters.model_config.fields import ConfigFields
from planner.model.network.architecture import TextModel
from planner.network.families.known_families import text_family_of
from planner.network.layer_kind import LayerKind

MODERNBERT = ("attention", "mlp", "norm", "classifier", "decoder")
ATTENTION_BIAS = ("attention_bias", "qkv_bias", "use_qkv_bias", "add_qkv_bias")


@dataclass(frozen=True)
class TextVectors:
    """Norms, biases and gates of a family where they differ from the usual ones."""

    norms: int = 2
    """The number of norms in a layer."""
    norm_parts: int | None = None
    """Vectors of a norm; None means a scale, plus a shift for a LayerNorm."""
    qk_norms_of_heads: bool = False
    """True if norms of queries and keys have a scale for each entry of each head, not one for all heads."""
    qk_scales: bool = True
    """False if such norms have no parameters."""
    qkv_bias: bool = False
    """True if query, key and value have biases by default."""
    is_bias_stated: bool = True
    """True if a configuration of the family may state the bias."""
    out_bias: bool = True
    """True if the map after attention has a bias whenever query, key and value have one."""
    mlp_bias: bool = False
    """True if the feed-forward maps have biases by default."""
    head_bias: bool = False
    additional: Callable[[ConfigFields, TextModel], int] | None = None
    """Function that returns the other parameters of the whole network; None if there are none."""


def with_vectors(network: TextModel, fields: ConfigFields, family: TextVectors) -> TextModel:
    """Return a network that states its vectors if they are not the usual ones."""
    count_vectors = _vectors if network.is_causal else _encoder_vectors
    counted = count_vectors(network, fields, family)
    return (
        network
        if counted == text_family_of(network).usual_vectors()
        else network.model_copy(update={"vectors": counted})
    )


def _vectors(network: TextModel, fields: ConfigFields, family: TextVectors) -> int:
    """Return the number of norm, bias and other parameters.

    layers x (norms x size of a norm + norms of queries and keys) + last norm + biases + bias of the head + others
    """
    parts = family.norm_parts
    norm = network.hidden * ((2 if network.norm == "layernorm" else 1) if parts is None else parts)
    biases = _all_biases(network, fields) if network.bias else network.layers * _biases(network, fields, family)
    head = network.vocab if fields.flag("lm_head_bias", default=family.head_bias) else 0
    additional = family.additional(fields, network) if family.additional is not None else 0
    return (
        network.layers * (family.norms * norm + _qk_norms(network, fields, family)) + norm + biases + head + additional
    )


def _encoder_vectors(network: TextModel, fields: ConfigFields, family: TextVectors) -> int:
    """Return the usual vectors and those of other settings. The head's vectors are counted with the head."""
    additional = family.additional(fields, network) if family.additional is not None else 0
    return text_family_of(network).usual_vectors() + additional


def _qk_norms(network: TextModel, fields: ConfigFields, family: TextVectors) -> int:
    if not family.qk_scales or not fields.flag("qk_layernorm", default=network.qk_norm):
        return 0
    return network.head_dim * (network.heads + network.kv_heads if family.qk_norms_of_heads else 2)


def _all_biases(network: TextModel, fields: ConfigFields) -> int:
    """Return the biases of all layers, if all maps have them, except those of attention if the family says so."""
    attention = (network.heads + 2 * network.kv_heads) * network.head_dim + network.hidden
    without = 0 if fields.flag("attention_bias", default=True) else network.layers * attention
    return text_family_of(network).biases() - without


def _biases(network: TextModel, fields: ConfigFields, family: TextVectors) -> int:
    """Return the biases of one layer, if only some of its maps have them."""
    named = next((name for name in ATTENTION_BIAS if family.is_bias_stated and fields.has(name)), None)
    qkv = family.qkv_bias if named is None else fields.flag(named, default=False)
    out = fields.flag("attention_out_bias", default=qkv and family.out_bias)
    attention = (network.heads + 2 * network.kv_heads) * network.head_dim * qkv + network.hidden * out
    if network.is_mixture or not fields.flag("mlp_bias", default=family.mlp_bias):
        return attention
    layer = _largest(network)
    return attention + layer.maps_in * layer.ffn_hidden + network.hidden


def _largest(network: TextModel) -> LayerKind:
    """Return the layers with experts, or those of a dense network."""
    return text_family_of(network).layers[-1]


def _falcon_norms(fields: ConfigFields, network: TextModel) -> int:
    """Return the norms beyond one per layer. Falcon's newer layout has one each for attention and MLP by default."""
    is_new = fields.flag("new_decoder_architecture", default=False)
    if is_new:
        second = fields.count("num_ln_in_parallel_attn", default=2) > 1
    else:
        second = not fields.flag("parallel_attn", default=True)
    return network.layers * 2 * network.hidden if second else 0


def _sinks_and_experts(_: ConfigFields, network: TextModel) -> int:
    """Return attention sinks, and the biases of router and experts (gpt-oss)."""
    sparse = _largest(network)
    expert = 2 * sparse.moe_ffn_hidden + network.hidden
    return network.layers * network.heads + sparse.layers * sparse.experts * (1 + expert)


def _shared_gate(_: ConfigFields, network: TextModel) -> int:
    """Return the gate of the shared expert: one score of each token (Qwen's mixtures)."""
    sparse = _largest(network)
    return sparse.layers * network.hidden if sparse.shared_experts else 0


def _router_bias(_: ConfigFields, network: TextModel) -> int:
    """Return a correction of each expert's score, and with biases the head's bias (ERNIE)."""
    sparse = _largest(network)
    return sparse.layers * sparse.experts + (network.vocab if network.bias else 0)


def _unused_positions(fields: ConfigFields, network: TextModel) -> int:
    """Return two rows of the learned positions that no token uses, minus the last norm if there is none (OPT)."""
    is_before = fields.flag("do_layer_norm_before", default=True)
    has_last = is_before and not fields.flag("_remove_final_layer_norm", default=False)
    return 2 * network.hidden - (0 if has_last else 2 * network.hidden)


def _activations(_: ConfigFields, network: TextModel) -> int:
    """Return two slopes of each layer's activation (xIELU of Apertus)."""
    return 2 * network.layers


def _head_twice(_: ConfigFields, network: TextModel) -> int:
    """Return a second bias of the head if it is not the embedding (BERT and relatives)."""
    return 0 if network.tied_head else network.vocab


def _modernbert_biases(fields: ConfigFields, network: TextModel) -> int:
    """Return the biases that a ModernBERT may have in attention, MLP, norms and head.

    By default only its head has one.
    """
    has = {name: fields.flag(f"{name}_bias", default=name == "decoder") for name in MODERNBERT}
    attention = 3 * network.heads * network.head_dim + network.hidden
    mlp = 0 if network.is_causal else 2 * _largest(network).ffn_hidden + network.hidden
    return (
        network.layers * (has["attention"] * attention + has["mlp"] * mlp)
        + has["norm"] * (2 * network.layers + 2) * network.hidden
        + has["classifier"] * network.hidden
        - (not has["decoder"]) * network.vocab
    )


def _qk_shifts(fields: ConfigFields, network: TextModel) -> int:
    """Return the shifts of the norms of queries and keys (Phi)."""
    return network.layers * 2 * network.head_dim if fields.flag("qk_layernorm", default=False) else 0


def _second_norm(fields: ConfigFields, network: TextModel) -> int:
    """Return the norm before the MLP, which layers with a parallel residual do not have (StableLM)."""
    return 0 if fields.flag("use_parallel_residual", default=False) else network.layers * 2 * network.hidden


USUAL = TextVectors()
_QKV = TextVectors(qkv_bias=True, is_bias_stated=False, out_bias=False)
_STATED_QKV = TextVectors(out_bias=False)
_OLMO2 = TextVectors(qk_norms_of_heads=True)
_GEMMA = TextVectors(norms=4)
_COHERE = TextVectors(norms=1, norm_parts=1, qk_norms_of_heads=True)
TEXT_VECTORS: dict[str, TextVectors] = {
    "qwen2": _QKV,
    "qwen2_moe": TextVectors(qkv_bias=True, out_bias=False, additional=_shared_gate),
    "chatglm": TextVectors(qkv_bias=True, out_bias=False),
    "glm": TextVectors(qkv_bias=True, out_bias=False),
    "glm4": TextVectors(norms=4, out_bias=False),
    "glm4_moe": _STATED_QKV,
    "helium": _STATED_QKV,
    "stablelm": TextVectors(norms=1, qk_norms_of_heads=True, out_bias=False, additional=_second_norm),
    "seed_oss": TextVectors(qkv_bias=True, out_bias=False),
    "gemma2": _GEMMA,
    "gemma3_text": _GEMMA,
    "olmo": TextVectors(norm_parts=0),
    "olmo2": _OLMO2,
    "olmo3": _OLMO2,
    "olmoe": _OLMO2,
    "minimax_m2": _OLMO2,
    "cohere": _COHERE,
    "cohere2": _COHERE,
    "phi": TextVectors(norms=1, head_bias=True, additional=_qk_shifts),
    "gptj": TextVectors(norms=1, mlp_bias=True, head_bias=True),
    "falcon": TextVectors(norms=1, additional=_falcon_norms),
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "camembert"), TextVectors(additional=_head_twice)),
    "modernbert": TextVectors(additional=_modernbert_biases),
    "apertus": TextVectors(additional=_activations),
    "nanochat": TextVectors(norm_parts=0, qk_scales=False),
    "jais2": TextVectors(qkv_bias=True, mlp_bias=True),
    "opt": TextVectors(additional=_unused_positions),
    "gpt_oss": TextVectors(qkv_bias=True, additional=_sinks_and_experts),
    "ernie4_5_moe": TextVectors(additional=_router_bias),
    "llama4_text": TextVectors(qk_scales=False),
}
"""Vectors by `model_type`. All other families have the usual ones."""
