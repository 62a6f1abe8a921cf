"""How many parameters a decoder has, and how many FLOPs one token of training costs."""

from __future__ import annotations

from planner.model.plan import FlopsConvention
from planner.model.workload import Decoder


def parameters(decoder: Decoder) -> int:
    """Count every trained parameter.

    embedding + positions + layers x (attention + MLP + norms) + final norm + head (unless tied)

    Biases: LayerNorm has one; linear layers in blocks have one where `bias` is set; the head has none.
    Source: counted from the module; equals torch's own count for the presets (tests/workloads).
    """
    d, q, kv = decoder.hidden, decoder.heads * decoder.head_dim, decoder.kv_heads * decoder.head_dim
    norm = d * (2 if decoder.norm == "layernorm" else 1)
    matrices = _layer_matrices(decoder)
    biases = 0
    if decoder.bias:
        mlp_outputs = decoder.ffn_hidden * (2 if decoder.mlp == "swiglu" else 1) + d
        biases = q + 2 * kv + d + mlp_outputs
    qk_norms = 2 * decoder.head_dim if decoder.qk_norm else 0
    embedding = decoder.vocab * d + (decoder.max_positions * d if decoder.positions == "learned" else 0)
    head = 0 if decoder.tied_head else decoder.vocab * d
    return embedding + decoder.layers * (matrices + biases + 2 * norm + qk_norms) + norm + head


def matmul_parameters(decoder: Decoder) -> int:
    """Count the parameters that take part in matrix products: blocks and head, no look-ups, norms or biases."""
    return decoder.layers * _layer_matrices(decoder) + decoder.vocab * decoder.hidden


def flops_per_token(decoder: Decoder, *, seq_len: int, convention: FlopsConvention) -> float:
    """Training FLOPs per token, forward and backward, without recomputation.

    full_attention: 6 N_matmul + 12 L H Q T        (headline; PaLM, Chowdhery et al. 2022, appendix B)
    causal:         6 N_matmul +  6 L H Q T        (only the lower triangle of the attention matrix)
    six_n:          6 N_all                        (rule of thumb of Kaplan et al. 2020; leaves attention out)

    N counts parameters, L layers, H heads of Q dimensions, T tokens in a sample.
    Leaves out norms, softmax and activations: under 1 % above 1e8 parameters.
    """
    if convention is FlopsConvention.SIX_N:
        return 6.0 * parameters(decoder)
    attention = decoder.layers * decoder.heads * decoder.head_dim * seq_len
    per_pair = 12.0 if convention is FlopsConvention.FULL_ATTENTION else 6.0
    return 6.0 * matmul_parameters(decoder) + per_pair * attention


def _layer_matrices(decoder: Decoder) -> int:
    d, q, kv = decoder.hidden, decoder.heads * decoder.head_dim, decoder.kv_heads * decoder.head_dim
    mlp = (3 if decoder.mlp == "swiglu" else 2) * d * decoder.ffn_hidden
    return d * q + 2 * d * kv + q * d + mlp
