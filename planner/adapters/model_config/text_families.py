"""Transformers on tokens as Hugging Face describes them: what each `model_type` means in the planner's terms.

Keys and their defaults: the configuration classes of huggingface/transformers, src/transformers/models/*/
configuration_*.py. Left out, each under 1 % of the parameters: biases where only query, key and value have them, norms
after a block, gates of shared experts, attention sinks, heads that predict further tokens. Windows of sliding attention
are counted as whole samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planner.adapters.model_config.fields import ConfigFields
from planner.model.network.architecture import MOST_LAYERS

GELU, SWIGLU = "gelu", "swiglu"


@dataclass(frozen=True)
class TextFamily:
    """What a family's configuration leaves unsaid."""

    mlp: str = SWIGLU
    """gelu: two matrices, whatever the activation between them; swiglu: three."""
    norm: str = "rmsnorm"
    bias: bool = False
    """Every linear map of a block has one."""
    positions: str = "rope"
    qk_norm: bool = False
    tied: bool = False
    """Where the configuration does not say."""
    kind: str = "decoder"
    head_dim: int | None = None
    """None: hidden / heads."""
    mlp_of: Callable[[ConfigFields], dict[str, Any]] | None = None
    """Reads the MLP's part; None: one of `intermediate_size`."""


def text_document(fields: ConfigFields, family: TextFamily) -> dict[str, Any]:
    """Return the architecture of a text model as a file of ours would state it."""
    hidden = _hidden(fields)
    heads = fields.count("num_attention_heads", "n_head", "n_heads")
    mlp = (family.mlp_of or _dense)(fields)
    return {
        "kind": family.kind,
        "layers": _layers(fields),
        "hidden": hidden,
        "heads": heads,
        "kv_heads": _kv_heads(fields, heads),
        "head_dim": fields.count("head_dim", default=family.head_dim or max(1, hidden // heads)),
        "mlp": family.mlp,
        "norm": family.norm,
        "norm_eps": fields.number("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps", default=1e-5),
        "bias": family.bias,
        "positions": family.positions,
        "max_positions": fields.count("max_position_embeddings", "n_positions", "n_ctx", "seq_length", default=2048),
        "rope_theta": fields.number("rope_theta", "rotary_emb_base", "global_rope_theta", default=10_000.0),
        "qk_norm": fields.flag("use_qk_norm", default=family.qk_norm),
        "vocab": fields.count("vocab_size", "padded_vocab_size"),
        "tied_head": fields.flag("tie_word_embeddings", default=family.tied),
    } | mlp


def _layers(fields: ConfigFields) -> int:
    return fields.count("num_hidden_layers", "n_layer", "n_layers", "num_layers", most=MOST_LAYERS)


def _hidden(fields: ConfigFields) -> int:
    return fields.count("hidden_size", "n_embd", "dim", "d_model")


def _kv_heads(fields: ConfigFields, heads: int) -> int:
    """Key and value heads; Falcon says so by flags: one, unless its newer layout counts them."""
    if fields.flag("new_decoder_architecture", default=False):
        return fields.count("num_kv_heads", default=heads)
    if fields.flag("multi_query", default=False):
        return 1
    return fields.count("num_key_value_heads", "num_kv_heads", "multi_query_group_num", default=heads)


def _dense(fields: ConfigFields) -> dict[str, Any]:
    """One MLP; the families that may leave its width out have four times the hidden size."""
    hidden = _hidden(fields)
    names = ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "hidden_dim")
    may_be_left_out = fields.has("n_embd") or fields.has("new_decoder_architecture")
    return {"ffn_hidden": fields.count(*names, default=4 * hidden if may_be_left_out else None)}


def _experts(fields: ConfigFields) -> dict[str, Any]:
    """Every layer has experts of `intermediate_size`: Mixtral and its kind."""
    return {
        "experts": fields.count("num_local_experts", "num_experts"),
        "experts_per_token": fields.count("num_experts_per_tok", "experts_per_token"),
        "moe_ffn_hidden": fields.count("intermediate_size"),
    }


def _qwen_experts(fields: ConfigFields) -> dict[str, Any]:
    """Every `decoder_sparse_step`-th layer has experts, but those of `mlp_only_layers`; one wide shared expert."""
    step, only = fields.count("decoder_sparse_step", default=1), set(fields.numbers("mlp_only_layers"))
    dense = tuple(layer for layer in range(_layers(fields)) if layer in only or (layer + 1) % step)
    width = fields.count("moe_intermediate_size")
    shared = fields.number_of("shared_expert_intermediate_size")
    return {
        "experts": fields.count("num_experts"),
        "experts_per_token": fields.count("num_experts_per_tok"),
        "moe_ffn_hidden": width,
        "shared_experts": _whole_experts(shared, width),
    } | _dense_layers(fields, dense, "intermediate_size")


def _whole_experts(shared: int, width: int) -> int:
    if shared % width:
        raise ValueError(f"shared_expert_intermediate_size: {shared} is no multiple of moe_intermediate_size {width}")
    return shared // width


def _deepseek_experts(fields: ConfigFields) -> dict[str, Any]:
    """The first `first_k_dense_replace` layers are dense, the others have experts and `n_shared_experts`."""
    first, step = fields.number_of("first_k_dense_replace"), fields.count("moe_layer_freq", default=1)
    dense = tuple(layer for layer in range(_layers(fields)) if layer < first or layer % step)
    return {
        "experts": fields.count("n_routed_experts"),
        "experts_per_token": fields.count("num_experts_per_tok"),
        "moe_ffn_hidden": fields.count("moe_intermediate_size"),
        "shared_experts": fields.number_of("n_shared_experts"),
    } | _dense_layers(fields, dense, "intermediate_size")


def _llama4_experts(fields: ConfigFields) -> dict[str, Any]:
    """Every `interleave_moe_layer_step`-th layer has experts beside one that sees every token."""
    step = fields.count("interleave_moe_layer_step", default=1)
    dense = tuple(layer for layer in range(_layers(fields)) if (layer + 1) % step)
    return {
        "experts": fields.count("num_local_experts"),
        "experts_per_token": fields.count("num_experts_per_tok"),
        "moe_ffn_hidden": fields.count("intermediate_size"),
        "shared_experts": 1,
    } | _dense_layers(fields, dense, "intermediate_size_mlp")


def _dense_layers(fields: ConfigFields, dense: tuple[int, ...], width: str) -> dict[str, Any]:
    return {"dense_layers": dense, "ffn_hidden": fields.count(width)} if dense else {}


_LAYERNORM = TextFamily(mlp=GELU, norm="layernorm", bias=True)
_LEARNED = TextFamily(mlp=GELU, norm="layernorm", bias=True, positions="learned", tied=True)
_BERT = TextFamily(kind="encoder", mlp=GELU, norm="layernorm", bias=True, positions="learned", tied=True)


def _moe(read: Callable[[ConfigFields], dict[str, Any]], **others: Any) -> TextFamily:
    return TextFamily(kind="moe_decoder", mlp_of=read, **others)


TEXT_FAMILIES: dict[str, TextFamily] = {
    **dict.fromkeys(
        ("llama", "mistral", "qwen2", "phi3", "granite", "glm", "glm4", "chatglm", "seed_oss", "Yi"), TextFamily()
    ),
    "smollm3": TextFamily(tied=True),
    "qwen3": TextFamily(qk_norm=True),
    "olmo2": TextFamily(qk_norm=True),
    "olmo3": TextFamily(qk_norm=True),
    "gemma": TextFamily(tied=True, head_dim=256),
    "gemma2": TextFamily(tied=True, head_dim=256),
    "gemma3_text": TextFamily(tied=True, head_dim=256, qk_norm=True),
    "olmo": TextFamily(norm="layernorm"),
    "stablelm": TextFamily(norm="layernorm"),
    "cohere": TextFamily(norm="layernorm", tied=True),
    "cohere2": TextFamily(norm="layernorm", tied=True),
    "nemotron": TextFamily(mlp=GELU, norm="layernorm"),
    "phi": _LAYERNORM,
    "gpt_neox": _LAYERNORM,
    "starcoder2": TextFamily(mlp=GELU, norm="layernorm", bias=True, tied=True),
    "falcon": TextFamily(mlp=GELU, norm="layernorm", tied=True),
    "gpt2": _LEARNED,
    "gpt_bigcode": _LEARNED,
    "opt": _LEARNED,
    "mixtral": _moe(_experts),
    "phimoe": _moe(_experts, norm="layernorm"),
    "granitemoe": _moe(_experts),
    "gpt_oss": _moe(_experts, head_dim=64),
    "olmoe": _moe(_experts, qk_norm=True),
    "qwen2_moe": _moe(_qwen_experts),
    "qwen3_moe": _moe(_qwen_experts, qk_norm=True),
    "deepseek": _moe(_deepseek_experts),
    "glm4_moe": _moe(_deepseek_experts),
    "llama4_text": _moe(_llama4_experts),
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "camembert", "distilbert"), _BERT),
    "modernbert": TextFamily(kind="encoder", norm="layernorm", tied=True),
}
"""By `model_type`."""
