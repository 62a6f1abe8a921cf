"""Knows what a block is made of: attention, the two kinds of mlp, norms, rotary positions, and the linear map."""

from __future__ import annotations

from typing import Optional, Tuple

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own habit)
from torch import Tensor, nn

from workloads.lora import LoraLinear
from workloads.spec import Architecture, Lora

Rope = Tuple[Tensor, Tensor]


class Attention(nn.Module):
    """Causal attention with grouped key and value heads, through torch's scaled_dot_product_attention."""

    def __init__(self, architecture: Architecture, lora: Optional[Lora]) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = architecture.heads, architecture.kv_heads, architecture.head_dim
        hidden, bias = architecture.hidden, architecture.bias
        all_heads, all_kv_heads = self.heads * self.head_dim, self.kv_heads * self.head_dim
        self.query = linear("query", hidden, all_heads, bias=bias, lora=lora)
        self.key = linear("key", hidden, all_kv_heads, bias=bias, lora=lora)
        self.value = linear("value", hidden, all_kv_heads, bias=bias, lora=lora)
        self.out = linear("out", all_heads, hidden, bias=bias, lora=lora)
        # Per-head norms carry no bias: Qwen3 uses RMSNorm here.
        self.query_norm = RMSNorm(self.head_dim, architecture.norm_eps) if architecture.qk_norm else None
        self.key_norm = RMSNorm(self.head_dim, architecture.norm_eps) if architecture.qk_norm else None

    def forward(self, hidden: Tensor, rope: Optional[Rope]) -> Tensor:
        """Return the attention's contribution to the residual stream."""
        batch, seq_len, _ = hidden.shape
        query = self.query(hidden).view(batch, seq_len, self.heads, self.head_dim)
        key = self.key(hidden).view(batch, seq_len, self.kv_heads, self.head_dim)
        value = self.value(hidden).view(batch, seq_len, self.kv_heads, self.head_dim)
        if self.query_norm is not None and self.key_norm is not None:
            query, key = self.query_norm(query), self.key_norm(key)
        query, key, value = query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)
        if rope is not None:
            query, key = _rotate(query, rope), _rotate(key, rope)
        if self.kv_heads != self.heads:
            # Repeated, not enable_gqa: torch 2.4 does not have it, and not every kernel takes it where it exists.
            group = self.heads // self.kv_heads
            key, value = key.repeat_interleave(group, dim=1), value.repeat_interleave(group, dim=1)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        projected: Tensor = self.out(mixed.transpose(1, 2).reshape(batch, seq_len, self.heads * self.head_dim))
        return projected


class GeluMlp(nn.Module):
    """down(gelu(up(x))), with GPT-2's tanh form of GELU."""

    def __init__(self, architecture: Architecture, lora: Optional[Lora]) -> None:
        super().__init__()
        hidden, ffn_hidden, bias = architecture.hidden, architecture.ffn_hidden, architecture.bias
        self.up = linear("up", hidden, ffn_hidden, bias=bias, lora=lora)
        self.down = linear("down", ffn_hidden, hidden, bias=bias, lora=lora)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the contribution to the residual stream."""
        projected: Tensor = self.down(F.gelu(self.up(hidden), approximate="tanh"))
        return projected


class SwigluMlp(nn.Module):
    """down(silu(gate(x)) * up(x)). Source: Shazeer 2020, GLU variants."""

    def __init__(self, architecture: Architecture, lora: Optional[Lora]) -> None:
        super().__init__()
        hidden, ffn_hidden, bias = architecture.hidden, architecture.ffn_hidden, architecture.bias
        self.gate = linear("gate", hidden, ffn_hidden, bias=bias, lora=lora)
        self.up = linear("up", hidden, ffn_hidden, bias=bias, lora=lora)
        self.down = linear("down", ffn_hidden, hidden, bias=bias, lora=lora)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the contribution to the residual stream."""
        projected: Tensor = self.down(F.silu(self.gate(hidden)) * self.up(hidden))
        return projected


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight. Source: Zhang and Sennrich 2019."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        self.eps = eps

    def forward(self, hidden: Tensor) -> Tensor:
        """Normalise the last dimension; the weight follows the input's type, or torch leaves its fused kernel."""
        return F.rms_norm(hidden, (hidden.shape[-1],), self.weight.to(hidden.dtype), self.eps)


def linear(name: str, inputs: int, outputs: int, *, bias: bool, lora: Optional[Lora]) -> nn.Linear:
    """Return the linear map of this name, with an adapter where LoRA asks for one."""
    if lora is not None and name in lora.targets:
        return LoraLinear(inputs, outputs, bias=bias, lora=lora)
    return nn.Linear(inputs, outputs, bias=bias)


def norm(architecture: Architecture, size: int) -> nn.Module:
    """Return the architecture's norm over the last dimension."""
    if architecture.norm == "rmsnorm":
        return RMSNorm(size, architecture.norm_eps)
    return nn.LayerNorm(size, eps=architecture.norm_eps, bias=architecture.bias)


def rope_tables(architecture: Architecture, *, seq_len: int, device: torch.device) -> Rope:
    """Return cos and sin of angle(position, i) = position / theta^(2 i / head_dim).

    Both have shape (seq_len, head_dim / 2). Source: Su et al. 2021, RoFormer.
    """
    half = architecture.head_dim // 2
    frequencies = architecture.rope_theta ** -(torch.arange(half, device=device, dtype=torch.float32) / half)
    angles = torch.outer(torch.arange(seq_len, device=device, dtype=torch.float32), frequencies)
    return angles.cos(), angles.sin()


def _rotate(states: Tensor, rope: Rope) -> Tensor:
    """Rotate the pairs (i, i + head_dim / 2) by the position's angle, as Llama and Qwen checkpoints do."""
    seq_len = states.shape[-2]
    cos, sin = (table[:seq_len].to(states.dtype) for table in rope)
    first, second = states.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
