"""How many parameters a network has, and how many FLOPs one sample, or one token, of training costs."""

from __future__ import annotations

from planner.model.network.architecture import Architecture, Decoder, Encoder, ImageModel, MoeDecoder, TextModel
from planner.model.plan.plan import FlopsConvention
from planner.network.image_flops import image_parameters, image_training_flops


def parameters(architecture: Architecture) -> int:
    """Count every trained parameter; of a mixture all experts, whether a token meets them or not.

    decoder: embedding + positions + layers x (attention + MLP) + vectors + head (unless tied)
    vectors: as stated, else layers x norms + final norm + biases
    encoder: the same + token types + the head's layer, norm and bias; norms have a bias where the linear maps have

    Biases: LayerNorm has one; linear layers in blocks have one where `bias` is set; the router,
    the routed experts and the head have none.
    Source: counted from the module; equals torch's own count for the presets (tests/workloads).
    """
    if isinstance(architecture, ImageModel):
        return image_parameters(architecture)
    return _decoder_parameters(architecture, experts_met=None)


def active_parameters(decoder: TextModel) -> int:
    """Count the parameters that one token meets: of the routed experts only `experts_per_token`.

    A dense decoder's are all of its parameters. This is the "A3B" in Qwen3-30B-A3B.
    """
    return _decoder_parameters(decoder, experts_met=_experts_met(decoder))


def routed_parameters(decoder: TextModel) -> int:
    """Count the parameters of the experts among which tokens are routed: what expert parallelism divides."""
    return _decoder_parameters(decoder, experts_met=None) - _decoder_parameters(decoder, experts_met=0)


def matmul_parameters(decoder: TextModel) -> int:
    """Count the parameters in matrix products that one token meets: blocks and head, no look-ups, norms or biases."""
    return _layers_matrices(decoder, experts_met=_experts_met(decoder)) + decoder.vocab * decoder.hidden


def all_matmul_parameters(decoder: TextModel) -> int:
    """Count the parameters in matrix products, all experts included: what weights in a 16-bit copy take."""
    return layer_maps(decoder) + decoder.vocab * decoder.hidden


def layer_maps(decoder: TextModel) -> int:
    """Count the parameters of the layers' linear maps, all experts included, the head not."""
    return _layers_matrices(decoder, experts_met=None)


def flops_per_sample(
    architecture: Architecture,
    *,
    seq_len: float | None,
    convention: FlopsConvention,
    adapters: bool = False,
    forward_only: float = 0.0,
    scalar_head: bool = False,
    sequences: int = 1,
) -> float:
    """Training FLOPs of one sample: of `seq_len` tokens, or of one image; of a pair, of both `sequences`.

    The conventions differ in causal attention alone, which image models have not, and six_n says nothing of a
    convolution: an image has one figure (image_flops.py).
    """
    if isinstance(architecture, ImageModel):
        return image_training_flops(architecture)
    assert seq_len is not None, "a decoder's samples have a length"
    of_a_token = flops_per_token(
        architecture, seq_len=seq_len, convention=convention, adapters=adapters, forward_only=forward_only,
        scalar_head=scalar_head,
    )  # fmt: skip
    return of_a_token * seq_len * sequences


def flops_per_token(
    decoder: TextModel,
    *,
    seq_len: float,
    convention: FlopsConvention,
    adapters: bool = False,
    forward_only: float = 0.0,
    scalar_head: bool = False,
) -> float:
    """Training FLOPs per token, forward and backward, without recomputation.

    full_attention: 6 N_matmul + 12 L H Q T        (headline; PaLM, Chowdhery et al. 2022, appendix B)
    causal:         6 N_matmul +  6 L H Q T        (only the lower triangle; an encoder has the whole matrix)
    six_n:          6 N_active                     (rule of thumb of Kaplan et al. 2020; leaves attention out)

    N counts parameters that a token meets, L layers, H heads of Q dimensions, T tokens in a sample.
    Leaves out norms, softmax and activations: under 1 % above 1e8 parameters.
    `adapters`: 4 N instead of 6 N, as frozen weights need no gradient; the adapters' own, under 1 % of N at rank 16,
    are left out. `forward_only`: passes without gradients besides, 2 N each and a third of the attention (DPO's
    reference). `scalar_head`: the head gives one number (a reward model).
    """
    each = (4.0 if adapters else 6.0) + 2.0 * forward_only
    lacking = (decoder.vocab - 1) * decoder.hidden if scalar_head else 0
    if convention is FlopsConvention.SIX_N:
        return each * (active_parameters(decoder) - (0 if decoder.tied_head else lacking))
    attention = decoder.layers * decoder.heads * decoder.head_dim * seq_len
    per_pair = 6.0 if convention is FlopsConvention.CAUSAL and decoder.is_causal else 12.0
    per_pair *= 1 + forward_only / 3
    return each * (matmul_parameters(decoder) - lacking) + per_pair * attention


def _decoder_parameters(decoder: TextModel, *, experts_met: int | None) -> int:
    """`experts_met`: how many routed experts of a layer are counted; None for all."""
    d = decoder.hidden
    matrices = _layers_matrices(decoder, experts_met=experts_met)
    vectors = usual_vectors(decoder) if decoder.vectors is None else decoder.vectors
    embedding = decoder.vocab * d + (decoder.max_positions * d if decoder.positions == "learned" else 0)
    head = 0 if decoder.tied_head else decoder.vocab * d
    if isinstance(decoder, Encoder):  # token types; of the head a layer, its norm, and a bias for each entry
        embedding += decoder.token_types * d
        head += d * d + (d if decoder.bias else 0) + _norm(decoder) + decoder.vocab
    return embedding + matrices + vectors + head


def usual_vectors(decoder: TextModel) -> int:
    """Count norms and biases of a network that does not state its vectors.

    layers x (2 norms + norms of queries and keys) + last norm + biases of the layers' maps
    """
    qk_norms = 2 * decoder.head_dim if decoder.qk_norm else 0
    biases = layers_biases(decoder) if decoder.bias else 0
    return decoder.layers * (2 * _norm(decoder) + qk_norms) + _norm(decoder) + biases


def _norm(decoder: TextModel) -> int:
    """Count the parameters of one norm."""
    has_bias = decoder.norm == "layernorm" and (decoder.bias or not isinstance(decoder, Encoder))
    return decoder.hidden * (2 if has_bias else 1)


def _layers_matrices(decoder: TextModel, *, experts_met: int | None) -> int:
    d, q, kv = decoder.hidden, decoder.heads * decoder.head_dim, decoder.kv_heads * decoder.head_dim
    factors = 3 if decoder.mlp == "swiglu" else 2
    attention = decoder.layers * (d * q + 2 * d * kv + q * d)
    if isinstance(decoder, Decoder):
        return attention + decoder.layers * factors * d * decoder.ffn_hidden
    experts = (decoder.experts if experts_met is None else experts_met) + decoder.shared_experts
    sparse = d * decoder.experts + experts * factors * d * decoder.moe_ffn_hidden  # the router meets every token
    dense = factors * d * (decoder.ffn_hidden or 0)
    return attention + decoder.sparse_layers * sparse + len(decoder.dense_layers) * dense


def layers_biases(decoder: TextModel) -> int:
    """Count the biases of the blocks' linear maps; the shared experts are one MLP of their joint width."""
    d, q, kv = decoder.hidden, decoder.heads * decoder.head_dim, decoder.kv_heads * decoder.head_dim
    outputs = 2 if decoder.mlp == "swiglu" else 1
    attention = decoder.layers * (q + 2 * kv + d)
    if isinstance(decoder, Decoder):
        return attention + decoder.layers * (outputs * decoder.ffn_hidden + d)
    shared = outputs * decoder.shared_experts * decoder.moe_ffn_hidden + d if decoder.shared_experts else 0
    dense = outputs * (decoder.ffn_hidden or 0) + d
    return attention + decoder.sparse_layers * shared + len(decoder.dense_layers) * dense


def _experts_met(decoder: TextModel) -> int | None:
    return decoder.experts_per_token if isinstance(decoder, MoeDecoder) else None
