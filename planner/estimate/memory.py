"""What one device must hold while it trains: states, activations, logits, buffers."""

from __future__ import annotations

from dataclasses import dataclass

from planner.estimate.flops import matmul_parameters, parameters
from planner.model.architecture import Decoder
from planner.model.workload import Checkpointing, Loss, Precision, Strategy

GIB = 2**30
CONTEXT_GIB = 1.0
"""CUDA context and NCCL channels. Published runs show 1 to 3 GiB, with what the allocator cannot use."""
RANGE_FRACTION = 0.15
"""Published peaks lie within 9 % of estimates made this way (docs/accuracy.md); kernels and versions add to it."""
DEEPSPEED_BUCKET = 5e8
"""Gradients that DeepSpeed reduces at once: the default of `reduce_bucket_size`."""


@dataclass(frozen=True)
class Memory:
    """GiB on each device, at one micro-batch."""

    states_gib: float
    activations_gib: float
    logits_gib: float
    buffers_gib: float
    """Communication and weight copies, and the context."""

    @property
    def total_gib(self) -> float:
        """Sum of the parts; true within about `RANGE_FRACTION`.

        A sum and not the peak over the phases of a step: what the allocator reserved for one layer's forward pass
        is in pieces too small for the logits. The peak of phases would lie 11 % under torchtitan's eager figure.
        """
        return self.states_gib + self.activations_gib + self.logits_gib + self.buffers_gib

    @property
    def low_gib(self) -> float:
        """Nine in ten runs need more."""
        return self.total_gib * (1 - RANGE_FRACTION)

    @property
    def high_gib(self) -> float:
        """Nine in ten runs need less."""
        return self.total_gib * (1 + RANGE_FRACTION)


def device_memory(
    decoder: Decoder,
    *,
    seq_len: int,
    micro_batch: int,
    strategy: Strategy,
    precision: Precision,
    devices: int,
    checkpointing: Checkpointing,
    loss: Loss = Loss.EAGER,
    traced_layer_bytes: float | None = None,
) -> Memory:
    """Estimate one device's memory with Adam. The parts are the functions below."""
    tokens = seq_len * micro_batch
    activations = activation_bytes_per_token(
        decoder,
        precision=precision,
        checkpointing=checkpointing,
        autocast=uses_autocast(strategy, precision=precision),
        traced_layer_bytes=traced_layer_bytes,
    )
    return Memory(
        states_gib=state_bytes_per_parameter(strategy, devices=devices) * parameters(decoder) / GIB,
        activations_gib=activations * tokens / GIB,
        logits_gib=logit_bytes(loss, precision=precision) * tokens * decoder.vocab / GIB,
        buffers_gib=buffer_bytes(decoder, strategy=strategy, precision=precision) / GIB + CONTEXT_GIB,
    )


def state_bytes_per_parameter(strategy: Strategy, *, devices: int) -> float:
    """Bytes of weights, gradients and Adam states per parameter on one device of n.

    ddp 16; zero1 4 + 12/n; zero2 2 + 14/n; zero3 and fsdp2 16/n.
    fp32 training holds the same 16: weights 4, gradients 4, two moments 8.
    Source: Rajbhandari et al. 2020 (ZeRO), section 3.
    """
    n = devices
    return {
        Strategy.DDP: 16.0,
        Strategy.ZERO1: 4 + 12 / n,
        Strategy.ZERO2: 2 + 14 / n,
        Strategy.ZERO3: 16 / n,
        Strategy.FSDP2: 16 / n,
    }[strategy]


def uses_autocast(strategy: Strategy, *, precision: Precision) -> bool:
    """Say whether 16-bit products stand on fp32 weights: plain DDP. The others hold 16-bit weights beside fp32 ones."""
    return strategy is Strategy.DDP and _bytes_per_number(precision) == 2


def activation_bytes_per_token(
    decoder: Decoder,
    *,
    precision: Precision,
    checkpointing: Checkpointing,
    autocast: bool = False,
    traced_layer_bytes: float | None = None,
) -> float:
    """Bytes that the backward pass needs of each token, over all layers.

    bytes = (layers - 1) x kept + one whole layer

    `kept` is what a layer leaves behind after its forward pass: everything without checkpointing; what
    `selective_layer_bytes` says; or its input alone (full). The backward pass rebuilds one layer at a time.
    `traced_layer_bytes` takes the place of the formula for a whole layer.
    Leaves out the embedding's output and the final norm, under 1 % of the whole.
    """
    whole = traced_layer_bytes
    if whole is None:
        whole = layer_activation_bytes(decoder, precision=precision, autocast=autocast)
    kept = {
        Checkpointing.NONE: whole,
        Checkpointing.SELECTIVE: selective_layer_bytes(decoder, precision=precision, autocast=autocast),
        Checkpointing.FULL: float(_residual_bytes(precision, autocast=autocast) * decoder.hidden),
    }[checkpointing]
    return (decoder.layers - 1) * kept + whole


def layer_activation_bytes(
    decoder: Decoder, *, precision: Precision, autocast: bool = False, repeats_kv_heads: bool = False
) -> float:
    """Bytes that one layer saves of each token for its backward pass, without checkpointing.

    Norms: input and output; an RMSNorm computes in fp32 and saves an fp32 copy of its input and the normalised values.
    Attention (a kernel that never writes the T x T matrix): query, key, value, output, and 4 bytes a head of
    log-sum-exp; after rotary positions the output is copied once more for the next product. QK-norm saves like RMSNorm.
    MLP: gelu input and output; or gate, up, silu(gate) and their product.
    `autocast`: the residual stream stays fp32, and each product that reads a norm's output saves a 16-bit copy of its
    own: 40 for the GPT-2 block, 61 for Llama 3 8B, 90 for Qwen3-0.6B.
    `repeats_kv_heads`: grouped key and value heads are repeated for the kernel, as the benchmark's decoder does for
    torch 2.4; the published figures are of kernels that read grouped heads.

    Per hidden unit: GPT-2 block 32 (64 in fp32), Llama 3 8B 55 (published: 56), Qwen3-0.6B 84 (128 in fp32).
    Source: Korthikanti et al. 2022 (section 4), counted for these blocks; equals the tensors that autograd saves in
    the benchmark's decoder, traced on the CPU (tests/launcher/test_memory_trace.py). torch's fused CUDA kernel for
    RMSNorm should save less than its CPU form: up to 12 bytes per hidden unit of a Llama layer, not measured by us yet.
    """
    b = _bytes_per_number(precision)
    d, q, kv = decoder.hidden, decoder.heads * decoder.head_dim, decoder.kv_heads * decoder.head_dim
    fp32_norm = 8  # an fp32 copy of the input, and the normalised values
    norm_input = fp32_norm if decoder.norm == "rmsnorm" else _residual_bytes(precision, autocast=autocast)
    readers = 3 + (2 if decoder.mlp == "swiglu" else 1)  # query, key, value; (gate,) up
    norms = (2 * norm_input + (readers if autocast else 2) * b) * d
    qk_norm = fp32_norm * (q + kv) if decoder.qk_norm else 0
    output_copies = 2 if decoder.positions == "rope" else 1
    attention = b * (q + 2 * (q if repeats_kv_heads else kv) + output_copies * q) + 4 * decoder.heads
    mlp = b * (4 if decoder.mlp == "swiglu" else 2) * decoder.ffn_hidden
    return float(norms + qk_norm + attention + mlp)


def selective_layer_bytes(decoder: Decoder, *, precision: Precision, autocast: bool = False) -> float:
    """Bytes of each token that one layer keeps under per-operator selective checkpointing.

    The layer's input, the attention kernel's output with its log-sum-exp, and the output of every second matrix
    product in the order query, key, value, output, (gate,) up, down: query, value, gate or up, and down of a SwiGLU.

    Per hidden unit: Llama 3 8B 15.5, and 25 if every product were kept ("about 25" is said of that rule). Published
    peaks speak for 15.5: torchtitan's 8B on 32 H200 with a compiled loss reserved 47.96 GiB at batch 2 x 8,192, where
    25 bytes alone would be 50. Source: the policy of torchtitan's `apply_ac` (selective op), December 2024.
    """
    b = _bytes_per_number(precision)
    d, q, kv = decoder.hidden, decoder.heads * decoder.head_dim, decoder.kv_heads * decoder.head_dim
    products = q + kv + decoder.ffn_hidden + (d if decoder.mlp == "swiglu" else 0)
    return float(_residual_bytes(precision, autocast=autocast) * d + b * (q + products) + 4 * decoder.heads)


def logit_bytes(loss: Loss, *, precision: Precision) -> int:
    """Bytes per token and vocabulary entry at the loss.

    eager: three fp32 tensors at once (log-softmax, its gradient, the logits' gradient), 12.
    fused: logits and their gradient in the type of the products, 4 at 16 bit; what a compiled or a fused
    cross-entropy needs. Source: torch's cross_entropy; between published torchtitan runs, compiling the loss
    saved 15.8 and 16.6 GiB where 12 against 4 says 15.7 (docs/accuracy.md).
    """
    return 12 if loss is Loss.EAGER else 2 * _bytes_per_number(precision)


def buffer_bytes(decoder: Decoder, *, strategy: Strategy, precision: Precision) -> float:
    """Bytes of weights and gradients that stand there a second time, for communication or as 16-bit copies.

    fsdp2, zero3: two gathered layers (one computes, one is fetched), embedding and head.
    zero1, zero2: one bucket of gradients. ddp: autocast's 16-bit copies of the weights, which the backward pass needs;
    gradients live in their buckets, so those cost nothing more.
    """
    b = _bytes_per_number(precision)
    if strategy is Strategy.DDP:
        return float(b * matmul_parameters(decoder)) if uses_autocast(strategy, precision=precision) else 0.0
    if strategy in (Strategy.ZERO1, Strategy.ZERO2):
        return b * min(DEEPSPEED_BUCKET, parameters(decoder))
    gathered = decoder.model_copy(update={"layers": min(2, decoder.layers)})
    return float(b * parameters(gathered))


def _bytes_per_number(precision: Precision) -> int:
    return 4 if precision in (Precision.FP32, Precision.TF32) else 2


def _residual_bytes(precision: Precision, *, autocast: bool) -> int:
    return 4 if autocast else _bytes_per_number(precision)
