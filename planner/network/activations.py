"""What the backward pass needs of each sample: the tensors that the forward pass leaves behind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture, Decoder, MoeDecoder, Resnet, TextModel, Vit
from planner.model.network.trainer_memory import USUAL_TRAINER, Kernels, TrainerMemory
from planner.model.network.workload import Checkpointing, Precision
from planner.network.image_flops import resnet_activations
from planner.network.lora_memory import QUANTIZED_BYTES, lora_layer_bytes


def activation_bytes_per_sample(
    architecture: Architecture,
    *,
    seq_len: int | None,
    precision: Precision,
    checkpointing: Checkpointing,
    autocast: bool = False,
    traced_layer_bytes: float | None = None,
    adapters: Adapters | None = None,
) -> float:
    """Bytes that the backward pass needs of one sample: a sequence of `seq_len` tokens, or an image.

    `traced_layer_bytes` takes the place of the formula: per token of a whole layer, or per image of a whole resnet.
    A vision transformer's layers are those of a decoder; attention that is not causal saves the same.
    """
    if isinstance(architecture, Resnet):
        return _resnet_bytes(architecture, precision=precision, checkpointing=checkpointing, traced=traced_layer_bytes)
    if isinstance(architecture, Vit):
        tokens: int | None = architecture.tokens
    else:
        tokens = seq_len
    assert tokens is not None, "a decoder's samples have a length"
    per_token = activation_bytes_per_token(
        architecture,
        precision=precision,
        checkpointing=checkpointing,
        autocast=autocast,
        traced_layer_bytes=traced_layer_bytes,
        adapters=adapters,
    )
    return per_token * tokens


def checkpointings_of(architecture: Architecture) -> tuple[Checkpointing, ...]:
    """Return what can be recomputed, the lightest first: selective is of matrix products, a resnet has convolutions."""
    without = Checkpointing.SELECTIVE if isinstance(architecture, Resnet) else None
    return tuple(way for way in Checkpointing if way is not without)


def activation_bytes_per_token(
    decoder: TextModel | Vit,
    *,
    precision: Precision,
    checkpointing: Checkpointing,
    autocast: bool = False,
    traced_layer_bytes: float | None = None,
    adapters: Adapters | None = None,
) -> float:
    """Bytes that the backward pass needs of each token: sum of layers x bytes (`layer_bytes`)."""
    kinds = layer_bytes(
        decoder,
        precision=precision,
        checkpointing=checkpointing,
        autocast=autocast,
        traced_layer_bytes=traced_layer_bytes,
        adapters=adapters,
    )
    return float(sum(kind.layers * kind.bytes_per_token for kind in kinds))


class LayerBytes(NamedTuple):
    """So many layers of which the backward pass needs so many bytes of each token."""

    layers: int
    bytes_per_token: float
    is_whole: bool
    """All that it saves without checkpointing; else what it keeps until it is recomputed."""
    kept_per_token: float | None = None
    """What a whole layer kept until it was recomputed; None without checkpointing."""


def kept_layers(kinds: Iterable[LayerBytes]) -> list[LayerBytes]:
    """Return what layers keep from their forward pass to their backward pass, those that are alike together."""
    layers: dict[tuple[float, bool], int] = {}
    for kind in kinds:
        if kind.kept_per_token is None:
            like = kind.bytes_per_token, kind.is_whole
        else:
            like = kind.kept_per_token, False
        layers[like] = layers.get(like, 0) + kind.layers
    return [LayerBytes(count, each, is_whole) for (each, is_whole), count in layers.items()]


def layer_bytes(
    network: TextModel | Vit,
    *,
    precision: Precision,
    checkpointing: Checkpointing,
    autocast: bool = False,
    traced_layer_bytes: float | None = None,
    adapters: Adapters | None = None,
    trainer: TrainerMemory = USUAL_TRAINER,
) -> tuple[LayerBytes, ...]:
    """Return what the backward pass needs of each token, layer by layer, those that are alike together.

    What a layer keeps after its forward pass: everything without checkpointing; what `selective_layer_bytes` says; or
    its input alone (full). The backward pass rebuilds one layer at a time, so the last one
    has all of its tensors. `traced_layer_bytes` takes the place of the
    formula for a whole layer. In a mixture of experts the last layer is a sparse one, and full of all its tensors.
    Leaves out the embedding's output and the final norm, under 1 % of the whole. With adapters, sparse layers count
    what full training saves: an upper bound.
    """
    decoder = _as_decoder(network) if isinstance(network, Vit) else network

    def whole(dense: bool) -> float:
        if traced_layer_bytes is not None and (isinstance(decoder, Decoder) or not dense):
            return traced_layer_bytes
        if adapters is not None and not _is_sparse(decoder, dense):
            return lora_layer_bytes(
                decoder,
                adapters,
                bytes_per_number=bytes_per_number(precision),
                residual_bytes=residual_bytes(precision, autocast=autocast),
                autocast=autocast,
                kv_outputs=decoder.head_dim * (decoder.heads if trainer.repeated_heads else decoder.kv_heads),
                fused_norms=trainer.norms_save_input_alone,
                keeps_inputs=trainer.keeps_frozen_inputs and adapters.frozen in QUANTIZED_BYTES,
            )
        return layer_activation_bytes(decoder, precision=precision, autocast=autocast, trainer=trainer, dense=dense)

    def kept(dense: bool) -> float:
        if checkpointing is Checkpointing.FULL:
            return float(residual_bytes(precision, autocast=autocast) * decoder.hidden)
        return selective_layer_bytes(decoder, precision=precision, autocast=autocast, dense=dense)

    kinds = _layer_kinds(decoder)
    if checkpointing is Checkpointing.NONE:
        every = [LayerBytes(layers, whole(dense), True) for dense, layers in kinds]
    else:
        (last_is_dense, last), before = kinds[-1], kinds[:-1]
        every = [LayerBytes(layers, kept(dense), False) for dense, layers in before]
        of_last = kept(last_is_dense)
        every += [LayerBytes(last - 1, of_last, False), LayerBytes(1, whole(last_is_dense), True, of_last)]
    return tuple(kind for kind in every if kind.layers)


def layer_activation_bytes(
    decoder: TextModel,
    *,
    precision: Precision,
    autocast: bool = False,
    trainer: TrainerMemory = USUAL_TRAINER,
    dense: bool | None = None,
) -> float:
    """Return the bytes that one layer saves of each token for its backward pass, without checkpointing.

    Norms: input and output. An RMSNorm that is written out (Hugging Face's) saves an fp32 copy of its input and the
    normalised values instead; one that is a single kernel (`trainer.norms_save_input_alone`) saves its input.
    Attention (a kernel that never writes the T x T matrix): query, key, value, output, and 4 bytes a head of
    log-sum-exp; after rotary positions the output is copied once more for the next product. QK-norm saves like RMSNorm.
    MLP: gelu input and output; or gate, up, silu(gate) and their product. Experts: that of each chosen expert, a copy
    of the token for each, what each returns, and routing in whole numbers; `dense` asks for a layer without experts.
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
    d, q, kv = decoder.hidden, decoder.heads * decoder.head_dim, decoder.kv_heads * decoder.head_dim
    written_out = decoder.norm == "rmsnorm" and not trainer.norms_save_input_alone
    fp32_norm = 8  # an fp32 copy of the input, and the normalised values
    norm_input = fp32_norm if written_out else residual_bytes(precision, autocast=autocast)
    maps_in = 2 if decoder.mlp == "swiglu" else 1  # (gate,) up
    if _is_sparse(decoder, dense):
        maps_in = 1 + (maps_in if isinstance(decoder, MoeDecoder) and decoder.shared_experts else 0)  # the router
    readers = 3 + maps_in  # query, key, value
    copies = readers if autocast and trainer.kernels is Kernels.EAGER else 2
    norms = (2 * norm_input + copies * b) * d
    # Query and key norms read the products' type.
    qk_norm = (fp32_norm if written_out else b) * (q + kv) if decoder.qk_norm else 0
    output_copies = 2 if decoder.positions == "rope" else 1
    attention = b * (q + 2 * (q if trainer.repeated_heads else kv) + output_copies * q) + 4 * decoder.heads
    mlp = _experts_bytes(decoder, b) if _is_sparse(decoder, dense) else _mlp_bytes(decoder, b, decoder.ffn_hidden or 0)
    return float(norms + qk_norm + attention + mlp)


def selective_layer_bytes(
    decoder: TextModel, *, precision: Precision, autocast: bool = False, dense: bool | None = None
) -> float:
    """Bytes of each token that one layer keeps under per-operator selective checkpointing.

    The layer's input, the attention kernel's output with its log-sum-exp, and the output of every second matrix
    product in the order query, key, value, output, (gate,) up, down: query, value, gate or up, and down of a SwiGLU.

    Per hidden unit: Llama 3 8B 15.5, and 25 if every product were kept ("about 25" is said of that rule). Published
    peaks speak for 15.5: torchtitan's 8B on 32 H200 with a compiled loss reserved 47.96 GiB at batch 2 x 8,192, where
    25 bytes alone would be 50. Source: the policy of torchtitan's `apply_ac` (selective op), December 2024.
    """
    b = bytes_per_number(precision)
    d, q, kv = decoder.hidden, decoder.heads * decoder.head_dim, decoder.kv_heads * decoder.head_dim
    products = q + kv + (decoder.ffn_hidden or 0) + (d if decoder.mlp == "swiglu" else 0)
    if _is_sparse(decoder, dense):
        assert isinstance(decoder, MoeDecoder)
        products = q + kv + decoder.shared_experts * decoder.moe_ffn_hidden + decoder.experts
    return float(residual_bytes(precision, autocast=autocast) * d + b * (q + products) + 4 * decoder.heads)


def bytes_per_number(precision: Precision) -> int:
    """Return 4 for fp32 and TF32, 2 for 16 bit; float8 keeps its activations in bf16."""
    return 4 if precision in (Precision.FP32, Precision.TF32) else 2


def residual_bytes(precision: Precision, *, autocast: bool) -> int:
    """Bytes of a number in the residual stream: autocast leaves it in fp32."""
    return 4 if autocast else bytes_per_number(precision)


def _layer_kinds(decoder: TextModel) -> list[tuple[bool, int]]:
    """Return (whether it is dense, how many) of each kind of layer, the sparse ones last."""
    if isinstance(decoder, Decoder):
        return [(True, decoder.layers)]
    return [(True, len(decoder.dense_layers)), (False, decoder.sparse_layers)]


def _is_sparse(decoder: TextModel, dense: bool | None) -> bool:
    return isinstance(decoder, MoeDecoder) and not dense


def _mlp_bytes(decoder: TextModel, b: int, ffn_hidden: int) -> int:
    return b * (4 if decoder.mlp == "swiglu" else 2) * ffn_hidden


def _experts_bytes(decoder: TextModel, b: int) -> int:
    """Bytes of a sparse layer's MLP for each token: k copies in, k results, and the routing."""
    assert isinstance(decoder, MoeDecoder)
    k = decoder.experts_per_token
    routed = k * (_mlp_bytes(decoder, b, decoder.moe_ffn_hidden) + 2 * b * decoder.hidden)
    return routed + _mlp_bytes(decoder, b, decoder.shared_experts * decoder.moe_ffn_hidden) + ROUTING_BYTES * k


ROUTING_BYTES = 30
"""For each chosen expert: its number, two places in the order of experts, its gate in fp32 and in 16 bit."""


def _as_decoder(vit: Vit) -> Decoder:
    return Decoder(
        layers=vit.layers,
        hidden=vit.hidden,
        heads=vit.heads,
        kv_heads=vit.heads,
        head_dim=vit.hidden // vit.heads,
        ffn_hidden=vit.ffn_hidden,
        mlp="gelu",
        norm="layernorm",
        bias=True,
        positions="learned",
        max_positions=vit.tokens,
        vocab=vit.classes,
        tied_head=False,
    )


def _resnet_bytes(resnet: Resnet, *, precision: Precision, checkpointing: Checkpointing, traced: float | None) -> float:
    """Bytes of one image: every convolution's output before its norm, every ReLU's output, the pooling's places.

    Checkpointed, a block keeps its input alone and is rebuilt for its backward pass; the largest one stands for that.
    Batch norm runs in the products' type; its statistics are nothing beside the images.
    """
    b = bytes_per_number(precision)
    stem, places, blocks = resnet_activations(resnet)
    whole = b * (stem + sum(kept for _, kept in blocks)) + 8 * places
    if checkpointing is Checkpointing.NONE:
        return float(whole) if traced is None else traced
    inputs = sum(size for size, _ in blocks[1:])  # the first one's is the pooling's output, of the stem
    return float(b * (stem + inputs + max(kept for _, kept in blocks)) + 8 * places)
