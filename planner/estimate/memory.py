"""What one device must hold while it trains: states, activations, logits, buffers."""

from __future__ import annotations

from dataclasses import dataclass

from planner.estimate.flops import parameters
from planner.model.workload import Checkpointing, Decoder, Precision, Strategy

GIB = 2**30
CONTEXT_GIB = 2.0
"""CUDA context, communication buffers and fragmentation: 1 to 3 GiB on published runs."""
RANGE_FRACTION = 0.15
"""Published peaks lie within about 15 % of estimates made this way."""


@dataclass(frozen=True)
class Memory:
    """GiB on each device, at one micro-batch."""

    states_gib: float
    activations_gib: float
    logits_gib: float
    context_gib: float

    @property
    def total_gib(self) -> float:
        """Sum of the parts; true within about `RANGE_FRACTION`."""
        return self.states_gib + self.activations_gib + self.logits_gib + self.context_gib


def device_memory(
    decoder: Decoder,
    *,
    seq_len: int,
    micro_batch: int,
    strategy: Strategy,
    precision: Precision,
    devices: int,
    checkpointing: Checkpointing,
) -> Memory:
    """Estimate one device's memory with Adam. The parts are the functions below."""
    tokens = seq_len * micro_batch
    return Memory(
        states_gib=state_bytes_per_parameter(strategy, devices=devices) * parameters(decoder) / GIB,
        activations_gib=activation_bytes_per_token(decoder, precision=precision, checkpointing=checkpointing)
        * tokens
        / GIB,
        logits_gib=LOGIT_BYTES * tokens * decoder.vocab / GIB,
        context_gib=CONTEXT_GIB,
    )


LOGIT_BYTES = 12
"""Per token and vocabulary entry, eager cross-entropy: 16-bit logits, an fp32 copy and its gradient."""


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


def activation_bytes_per_token(decoder: Decoder, *, precision: Precision, checkpointing: Checkpointing) -> float:
    """Bytes that the backward pass needs of each token, over all layers.

    A layer saves its inputs to norms, projections, attention (flash: no T x T matrix) and MLP; with an RMSNorm
    that computes in fp32, rotary copies and QK-norm. At 16 bit, per hidden unit: GPT-2 block 32, Llama 3 8B 56,
    Qwen3-0.6B 84. fp32 doubles the 16-bit parts. Full checkpointing keeps each layer's input (2 bytes) and
    recomputes one layer at a time. Source: Korthikanti et al. 2022 (section 4), counted for these blocks.
    """
    layer = _layer_activation_bytes(decoder, wide=precision in (Precision.FP32, Precision.TF32))
    if checkpointing is Checkpointing.FULL:
        return 2.0 * decoder.hidden * decoder.layers + layer
    return layer * decoder.layers


def _layer_activation_bytes(decoder: Decoder, *, wide: bool) -> float:
    d, q, kv = decoder.hidden, decoder.heads * decoder.head_dim, decoder.kv_heads * decoder.head_dim
    norm_inputs_and_outputs = 2 * (2 + 2) * d
    attention = 2 * (q + 2 * kv) + 2 * q
    mlp = (8 if decoder.mlp == "swiglu" else 4) * decoder.ffn_hidden
    narrow = norm_inputs_and_outputs + attention + mlp
    if decoder.positions == "rope":
        narrow += 2 * (q + kv)
    in_fp32 = 0
    if decoder.norm == "rmsnorm":
        in_fp32 += 2 * 6 * d
    if decoder.qk_norm:
        in_fp32 += 7 * (q + kv)
    return narrow * (2 if wide else 1) + in_fp32
