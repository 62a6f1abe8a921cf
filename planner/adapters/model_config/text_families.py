"""Transformers on tokens as Hugging Face describes them: translates each `model_type` into the planner's terms.

Keys and their defaults: the configuration classes of huggingface/transformers, src/transformers/models/*/
configuration_*.py. Norms, biases and gates: `text_vectors.py`. Heads that predict further tokens are left out. Windows
of sliding attention count as whole samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from planner.adapters.model_config.fields import ConfigFields
from planner.model.network.architecture import MOST_LAYERS

GELU, SWIGLU = "gelu", "swiglu"
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
"""Keys of the number of experts, by the family and the release of transformers that saved it."""
PER_TOKEN = ("num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_k", "moe_topk", "moe_top_k")
SHARED = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")


@dataclass(frozen=True)
class TextConfigFamily:
    """Facts of a family that its configuration does not save."""

    mlp: str = SWIGLU
    """Kind of MLP. gelu has two matrices, whatever the activation between them; swiglu has three."""
    norm: str = "rmsnorm"
    bias: bool = False
    """True if every linear map of a block has a bias."""
    positions: str = "rope"
    qk_norm: bool = False
    grouped: bool = True
    """True if queries may share keys and values."""
    tied: bool = False
    """True if the head shares the embedding's weights by default."""
    kind: str = "decoder"
    token_types: int = 0
    """Token types of an encoder, if the configuration does not say."""
    head_dim: int | None = None
    """Width of a head; None means hidden / heads."""
    mlp_of: Callable[[ConfigFields], dict[str, Any]] | None = None
    """Reader of the MLP's part; None means one MLP of `intermediate_size`."""


def text_document(fields: ConfigFields, family: TextConfigFamily) -> dict[str, Any]:
    """Return the architecture of a text model as our own files state it."""
    hidden = _hidden(fields)
    heads = fields.count("num_attention_heads", "n_head", "n_heads")
    mlp = (family.mlp_of or _dense)(fields)
    return (
        {
            "kind": family.kind,
            "layers": _layers(fields),
            "hidden": hidden,
            "heads": heads,
            "kv_heads": _kv_heads(fields, heads) if family.grouped else heads,
            "head_dim": fields.count("head_dim", default=family.head_dim or max(1, hidden // heads)),
            "mlp": family.mlp,
            "norm": family.norm,
            "norm_eps": fields.number("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps", default=1e-5),
            "bias": fields.flag("use_bias", "bias", "enable_bias", default=family.bias),
            "positions": family.positions,
            "max_positions": fields.count(
                "max_position_embeddings", "n_positions", "n_ctx", "seq_length", default=2048
            ),
            "rope_theta": fields.number("rope_theta", "rotary_emb_base", "global_rope_theta", default=10_000.0),
            "qk_norm": fields.flag("use_qk_norm", default=family.qk_norm),
            "vocab": fields.count("vocab_size", "padded_vocab_size"),
            "tied_head": fields.flag("tie_word_embeddings", default=family.tied),
        }
        | mlp
        | ({"token_types": _token_types(fields, family)} if family.kind == "encoder" else {})
    )


def _token_types(fields: ConfigFields, family: TextConfigFamily) -> int:
    return fields.number_of("type_vocab_size", default=family.token_types) if family.token_types else 0


def _layers(fields: ConfigFields) -> int:
    return fields.count("num_hidden_layers", "n_layer", "n_layers", "num_layers", most=MOST_LAYERS)


def _hidden(fields: ConfigFields) -> int:
    return fields.count("hidden_size", "n_embd", "dim", "d_model")


def _kv_heads(fields: ConfigFields, heads: int) -> int:
    """Return the number of key and value heads. Falcon has one by a flag, unless its newer layout counts them."""
    if fields.flag("new_decoder_architecture", default=False):
        return fields.count("num_kv_heads", default=heads)
    if fields.has("multi_query"):
        return 1 if fields.flag("multi_query", default=False) else heads
    return fields.count("num_key_value_heads", "num_kv_heads", "multi_query_group_num", default=heads)


def _dense(fields: ConfigFields) -> dict[str, Any]:
    """Return one MLP. The families that may leave its width out have four times the hidden size."""
    hidden = _hidden(fields)
    names = ("ffn_dim", "ffn_hidden_size", "intermediate_size", "n_inner", "hidden_dim")
    may_be_left_out = fields.has("n_embd") or fields.has("new_decoder_architecture")
    return {"ffn_hidden": fields.count(*names, default=4 * hidden if may_be_left_out else None)}


def _experts(
    fields: ConfigFields, width: str = "intermediate_size", *, number: tuple[str, ...] = EXPERTS
) -> dict[str, Any]:
    """Return layers that all have experts of `intermediate_size`, as in Mixtral, or of another `width`."""
    return {
        "experts": fields.count(*number),
        "experts_per_token": fields.count(*PER_TOKEN),
        "moe_ffn_hidden": fields.count(width),
    }


def _qwen_experts(fields: ConfigFields) -> dict[str, Any]:
    """Return experts in every `decoder_sparse_step`-th layer except `mlp_only_layers`, with one wide shared expert."""
    step, only = fields.count("decoder_sparse_step", default=1), set(fields.numbers("mlp_only_layers"))
    dense = tuple(layer for layer in range(_layers(fields)) if layer in only or (layer + 1) % step)
    experts = _experts(fields, "moe_intermediate_size", number=("num_experts", *EXPERTS))
    shared = _whole_experts(fields.number_of("shared_expert_intermediate_size"), experts["moe_ffn_hidden"])
    return experts | {"shared_experts": shared} | _dense_layers(fields, dense, "intermediate_size")


def _whole_experts(shared: int, width: int) -> int:
    if shared % width:
        raise ValueError(
            f"shared_expert_intermediate_size: {shared} is not a multiple of moe_intermediate_size {width}"
        )
    return shared // width


def _deepseek_experts(fields: ConfigFields) -> dict[str, Any]:
    """Return dense layers up to `first_k_dense_replace`, then layers with experts and `n_shared_experts`."""
    first, step = fields.number_of("first_k_dense_replace"), fields.count("moe_layer_freq", default=1)
    if fields.has("mlp_layer_types"):  # as transformers 5 saves it
        kinds = fields.words("mlp_layer_types")
        first, step = next((place for place, kind in enumerate(kinds) if kind == "sparse"), len(kinds)), 1
    dense = tuple(layer for layer in range(_layers(fields)) if layer < first or layer % step)
    experts = _experts(fields, "moe_intermediate_size", number=("n_routed_experts", *EXPERTS))
    return experts | _shared_experts(fields) | _dense_layers(fields, dense, "intermediate_size")


def _llama4_experts(fields: ConfigFields) -> dict[str, Any]:
    """Return experts in every `interleave_moe_layer_step`-th layer, beside one that sees every token."""
    step = fields.count("interleave_moe_layer_step", default=1)
    dense = tuple(layer for layer in range(_layers(fields)) if (layer + 1) % step)
    return _experts(fields) | {"shared_experts": 1} | _dense_layers(fields, dense, "intermediate_size_mlp")


def _ernie_experts(fields: ConfigFields) -> dict[str, Any]:
    """Return experts in every `moe_layer_interval`-th layer, from `moe_layer_start_index` to `moe_layer_end_index`."""
    layers, interval = _layers(fields), fields.count("moe_layer_interval", default=1)
    start = fields.number_of("moe_layer_start_index", default=1)
    end = fields.number_of("moe_layer_end_index", default=layers - 1)
    sparse = {layer for layer in range(layers) if start <= layer <= end and (layer + 1) % interval == 0}
    dense = tuple(layer for layer in range(layers) if layer not in sparse)
    experts = _experts(fields, "moe_intermediate_size")
    return experts | _shared_experts(fields) | _dense_layers(fields, dense, "intermediate_size")


def _shared_experts(fields: ConfigFields) -> dict[str, int]:
    return {"shared_experts": next((fields.number_of(name) for name in SHARED if fields.has(name)), 0)}


def _dense_layers(fields: ConfigFields, dense: tuple[int, ...], width: str) -> dict[str, Any]:
    return {"dense_layers": dense, "ffn_hidden": fields.count(width)} if dense else {}


_LAYERNORM = TextConfigFamily(mlp=GELU, norm="layernorm", bias=True)
_LEARNED = TextConfigFamily(mlp=GELU, norm="layernorm", bias=True, positions="learned", tied=True)
_BERT = TextConfigFamily(kind="encoder", mlp=GELU, norm="layernorm", bias=True, positions="learned", tied=True)


def _moe(read: Callable[[ConfigFields], dict[str, Any]], **others: Any) -> TextConfigFamily:
    return TextConfigFamily(kind="moe_decoder", mlp_of=read, **others)


PLAIN = (
    "llama", "mistral", "ministral", "ministral3", "cwm", "iquestcoder", "qwen2", "phi3", "granite", "glm", "glm4",
    "chatglm", "seed_oss", "Yi", "internlm2", "internlm3", "baichuan", "helium", "exaone", "aquila", "orion",
)  # fmt: skip
"""Families that are built like Llama."""
TEXT_FAMILIES: dict[str, TextConfigFamily] = {
    **dict.fromkeys(PLAIN, TextConfigFamily()),
    "arcee": TextConfigFamily(mlp=GELU),
    "apertus": TextConfigFamily(mlp=GELU, qk_norm=True),
    "nanochat": TextConfigFamily(mlp=GELU),
    "jais2": TextConfigFamily(mlp=GELU, norm="layernorm"),
    "vaultgemma": TextConfigFamily(tied=True, head_dim=256),
    "ernie4_5": TextConfigFamily(tied=True),
    "exaone4": TextConfigFamily(qk_norm=True),
    "hunyuan_v1_dense": TextConfigFamily(qk_norm=True),
    "gptj": TextConfigFamily(mlp=GELU, norm="layernorm", grouped=False),
    "smollm3": TextConfigFamily(tied=True),
    "qwen3": TextConfigFamily(qk_norm=True),
    "olmo2": TextConfigFamily(qk_norm=True),
    "olmo3": TextConfigFamily(qk_norm=True),
    "gemma": TextConfigFamily(tied=True, head_dim=256),
    "gemma2": TextConfigFamily(tied=True, head_dim=256),
    "gemma3_text": TextConfigFamily(tied=True, head_dim=256, qk_norm=True),
    "olmo": TextConfigFamily(norm="layernorm"),
    "stablelm": TextConfigFamily(norm="layernorm"),
    "cohere": TextConfigFamily(norm="layernorm", tied=True),
    "cohere2": TextConfigFamily(norm="layernorm", tied=True),
    "nemotron": TextConfigFamily(mlp=GELU, norm="layernorm"),
    "phi": _LAYERNORM,
    "gpt_neox": _LAYERNORM,
    "starcoder2": TextConfigFamily(mlp=GELU, norm="layernorm", bias=True, tied=True),
    "falcon": TextConfigFamily(mlp=GELU, norm="layernorm", tied=True),
    "gpt2": replace(_LEARNED, grouped=False),
    "gpt_bigcode": _LEARNED,
    "opt": replace(_LEARNED, grouped=False),
    "mixtral": _moe(_experts),
    "phimoe": _moe(_experts, norm="layernorm"),
    "granitemoe": _moe(_experts),
    "dbrx": _moe(_experts, norm="layernorm"),
    "gpt_oss": _moe(_experts, head_dim=64),
    "olmoe": _moe(_experts, qk_norm=True),
    "qwen2_moe": _moe(_qwen_experts),
    "qwen3_moe": _moe(_qwen_experts, qk_norm=True),
    "deepseek": _moe(_deepseek_experts),
    "glm4_moe": _moe(_deepseek_experts),
    "dots1": _moe(_deepseek_experts, qk_norm=True),
    "ernie4_5_moe": _moe(_ernie_experts, tied=True),
    "minimax_m2": _moe(_experts, qk_norm=True),
    "llama4_text": _moe(_llama4_experts),
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "camembert"), replace(_BERT, token_types=2)),
    "distilbert": _BERT,
    "modernbert": TextConfigFamily(kind="encoder", norm="layernorm", tied=True),
}
"""Families by `model_type`."""
