"""Memory of the backward pass for each sample: the tensors that the forward pass saves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import USUAL_TRAINER, Kernels, TrainerMemory
from planner.model.network.workload import Checkpointing, Precision
from planner.network.families.known_families import family_of
from planner.network.layer_kind import LayerKind
from planner.network.lora_memory import QUANTIZED_BYTES, lora_layer_bytes


def checkpointings_of(architecture: Architecture) -> tuple[Checkpointing, ...]:
    """Return the possible kinds of recomputation, the lightest first.

    Selective applies to matrix products, not to a resnet.
    """
    without = Checkpointing.SELECTIVE if architecture.is_convolutional else None
    return tuple(way for way in Checkpointing if way is not without)


class LayerBytes(NamedTuple):
    """A number of layers, with the bytes of each token that their backward pass needs."""

    layers: int
    bytes_per_token: float
    is_whole: bool
    """True if the bytes are all that the layer saves without checkpointing;

    False if they are kept until recomputation.
    """
    kept_per_token: float | None = None
    """Bytes that a whole layer kept until it was recomputed; None without checkpointing."""


def kept_layers(kinds: Iterable[LayerBytes]) -> list[LayerBytes]:
    """Return what layers keep from their forward pass to their backward pass, with equal layers merged."""
    layers: dict[tuple[float, bool], int] = {}
    for kind in kinds:
        if kind.kept_per_token is None:
            like = kind.bytes_per_token, kind.is_whole
        else:
            like = kind.kept_per_token, False
        layers[like] = layers.get(like, 0) + kind.layers
    return [LayerBytes(count, each, is_whole) for (each, is_whole), count in layers.items()]


def layer_bytes(
    network: Architecture,
    *,
    precision: Precision,
    checkpointing: Checkpointing,
    autocast: bool = False,
    traced_layer_bytes: float | None = None,
    adapters: Adapters | None = None,
    trainer: TrainerMemory = USUAL_TRAINER,
) -> tuple[LayerBytes, ...]:
    """Return the bytes that the backward pass needs of each token, layer by layer, with equal layers merged.

    After its forward pass a layer keeps everything without checkpointing, what `selective_layer_bytes` says, or only
    its input (full). The backward pass rebuilds one layer at a time, so the last one has all of its tensors.
    `traced_layer_bytes` replaces the formula for a whole layer. In a mixture of experts the last layer is a sparse one
    with all its tensors. Leaves out the embedding's output and the final norm, under 1 % of the whole. With adapters,
    sparse layers count what full training saves: an upper bound.
    """
    layers = family_of(network).layers

    def whole(kind: LayerKind) -> float:
        if traced_layer_bytes is not None and (kind.experts or not network.is_mixture):
            return traced_layer_bytes
        if adapters is not None and not kind.experts:
            return lora_layer_bytes(
                kind,
                adapters,
                bytes_per_number=bytes_per_number(precision),
                residual_bytes=residual_bytes(precision, autocast=autocast),
                autocast=autocast,
                kv_outputs=kind.q_dim if trainer.repeated_heads else kind.kv_dim,
                fused_norms=trainer.norms_save_input_alone,
                keeps_inputs=trainer.keeps_frozen_inputs and adapters.frozen in QUANTIZED_BYTES,
            )
        return layer_activation_bytes(kind, precision=precision, autocast=autocast, trainer=trainer)

    def kept(kind: LayerKind) -> float:
        if checkpointing is Checkpointing.FULL:
            return float(residual_bytes(precision, autocast=autocast) * kind.hidden)
        return selective_layer_bytes(kind, precision=precision, autocast=autocast)

    if checkpointing is Checkpointing.NONE:
        every = [LayerBytes(kind.layers, whole(kind), True) for kind in layers]
    else:
        last, before = layers[-1], layers[:-1]
        every = [LayerBytes(kind.layers, kept(kind), False) for kind in before]
        of_last = kept(last)
        every += [LayerBytes(last.layers - 1, of_last, False), LayerBytes(1, whole(last), True, of_last)]
    return tuple(kind for kind in every if kind.layers)


def layer_activation_bytes(
    kind: LayerKind, *, precision: Precision, autocast: bool = False, trainer: TrainerMemory = USUAL_TRAINER
) -> float:
    """Return the bytes that one layer saves of each token for its backward pass, without checkpointing.

    Norms: input and output. An RMSNorm that is written out (Hugging Face's) saves an fp32 copy of its input and the
    normalised values instead; one that is a single kernel (`trainer.norms_save_input_alone`) saves its input.
    Attention (a kernel that never writes the T x T matrix): query, key, value, output, and 4 bytes a head of
    log-sum-exp; after rotary positions the output is copied once more for the next product. QK-norm saves like RMSNorm.
    MLP: gelu input and output; or gate, up, silu(gate) and their product. Experts: that of each chosen expert, a copy
    of the token for each, what each returns, and routing in whole numbers.
    `autocast`: the residual stream stays fp32, and each product that reads a norm's output saves a 16-bit copy of its
    own (fused kernels: one copy for all of them): 40 for the GPT-2 block, 61 for Llama 3 8B, 90 for Qwen3-0.6B.
    `trainer.repeated_heads`: grouped key and value heads are repeated for the kernel, as the benchmark's decoder does
    for torch 2.4; the published figures are of kernels that read grouped heads.

    Per hidden unit: GPT-2 block 32 (64 in fp32), Llama 3 8B 55 (published: 56), Qwen3-0.6B 84 (128 in fp32).
    Source: Korthikanti et al. 2022 (section 4), counted for these blocks; equals the tensors that autograd saves in
    the benchmark's decoder, traced on the CPU (launcher/bench/memory_trace.py). With fused norms, autocast and repeated
    heads Qwen3-0.6B saves 68, as measured on an H100 with torch 2.11 (tests/speed/memory/test_h100_memory.py).
    """
    b = bytes_per_number(precision)
    d, q, kv = kind.hidden, kind.q_dim, kind.kv_dim
    written_out = kind.norm == "rmsnorm" and not trainer.norms_save_input_alone
    fp32_norm = 8  # an fp32 copy of the input, and the normalised values
    norm_input = fp32_norm if written_out else residual_bytes(precision, autocast=autocast)
    maps_in = kind.maps_in
    if kind.experts:
        maps_in = 1 + (maps_in if kind.shared_experts else 0)  # the router
    readers = 3 + maps_in  # query, key, value
    copies = readers if autocast and trainer.kernels is Kernels.EAGER else 2
    norms = (2 * norm_input + copies * b) * d
    # Query and key norms read the products' type.
    qk_norm = (fp32_norm if written_out else b) * (q + kv) if kind.qk_norm else 0
    output_copies = 2 if kind.rotates else 1
    attention = b * (q + 2 * (q if trainer.repeated_heads else kv) + output_copies * q) + 4 * kind.heads
    mlp = _experts_bytes(kind, b) if kind.experts else _mlp_bytes(kind, b, kind.ffn_hidden)
    return float(norms + qk_norm + attention + mlp)


def selective_layer_bytes(kind: LayerKind, *, precision: Precision, autocast: bool = False) -> float:
    """Return the bytes of each token that one layer keeps under per-operator selective checkpointing.

    It keeps the layer's input, the attention kernel's output with its log-sum-exp, and the output of every second
    matrix product in the order query, key, value, output, (gate,) up, down: query, value, gate or up, and down of a
    SwiGLU.

    Per hidden unit: Llama 3 8B 15.5, and 25 if every product were kept ("about 25" is said of that rule). Published
    peaks support 15.5: torchtitan's 8B on 32 H200 with a compiled loss reserved 47.96 GiB at batch 2 x 8,192, where 25
    bytes alone would be 50. Source: the policy of torchtitan's `apply_ac` (selective op), December 2024.
    """
    b = bytes_per_number(precision)
    d, q, kv = kind.hidden, kind.q_dim, kind.kv_dim
    products = q + kv + kind.ffn_hidden + (d if kind.gated else 0)
    if kind.experts:
        products = q + kv + kind.shared_experts * kind.moe_ffn_hidden + kind.experts
    return float(residual_bytes(precision, autocast=autocast) * d + b * (q + products) + 4 * kind.heads)


def bytes_per_number(precision: Precision) -> int:
    """Return 4 for fp32 and TF32, 2 for 16 bit; float8 keeps its activations in bf16."""
    return 4 if precision in (Precision.FP32, Precision.TF32) else 2


def residual_bytes(precision: Precision, *, autocast: bool) -> int:
    """Return the bytes of a number in the residual stream. Autocast leaves it in fp32."""
    return 4 if autocast else bytes_per_number(precision)


def _mlp_bytes(kind: LayerKind, b: int, ffn_hidden: int) -> int:
    return b * (4 if kind.gated else 2) * ffn_hidden


def _experts_bytes(kind: LayerKind, b: int) -> int:
    """Return the bytes of a sparse layer's MLP for each token: k copies in, k results, and the routing."""
    k = kind.experts_per_token
    routed = k * (_mlp_bytes(kind, b, kind.moe_ffn_hidden) + 2 * b * kind.hidden)
    return routed + _mlp_bytes(kind, b, kind.shared_experts * kind.moe_ffn_hidden) + ROUTING_BYTES * k


ROUTING_BYTES = 30
"""Bytes for each chosen expert: its number, two places in the order of experts, its gate in fp32 and in 16 bit."""
