"""Knows one model: a decoder-only transformer in plain torch, built from the spec's architecture.

It is built on the meta device (shapes only) and filled by `init_weights`, so that a sharding strategy can split it
before any memory is taken, and so that parameters can be counted without a node.
"""

from __future__ import annotations

import math
from typing import Callable, Optional, Tuple

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own habit)
from torch import Tensor, nn

from workloads.spec import Architecture

Rope = Tuple[Tensor, Tensor]
Place = Callable[[Tensor, Tensor], object]

INIT_STD = 0.02  # GPT-2: normal weights of 0.02, projections into the residual stream divided by sqrt(2 layers)


def build_on_meta(architecture: Architecture, *, seq_len: int) -> Decoder:
    """Return the model without memory behind it: call `to_empty(device=...)`, then `init_weights`."""
    with torch.device("meta"):
        return Decoder(architecture, seq_len=seq_len)


def count_parameters(model: nn.Module) -> int:
    """Trainable parameters; a tied head counts once, position tables of RoPE not at all (they are not trained)."""
    return sum(parameter.numel() for parameter in model.parameters())


class Decoder(nn.Module):
    """Token embedding, pre-norm blocks, final norm, head. `forward` returns the mean cross-entropy in nats."""

    def __init__(self, architecture: Architecture, *, seq_len: int) -> None:
        super().__init__()
        self.architecture = architecture
        self.seq_len = seq_len
        self.tokens = nn.Embedding(architecture.vocab, architecture.hidden)
        self.positions: Optional[nn.Embedding] = None
        if architecture.positions == "learned":
            self.positions = nn.Embedding(architecture.max_positions, architecture.hidden)
        # Constant tables, not buffers: a strategy would send buffers to every rank in every step, or cast them.
        self._rope: Optional[Rope] = None
        self.blocks = nn.ModuleList(Block(architecture) for _ in range(architecture.layers))
        self.final_norm = _norm(architecture, architecture.hidden)
        # A tied head multiplies with the embedding's own weight: no second Parameter that to_empty() could untie.
        self.head: Optional[nn.Linear] = None
        if not architecture.tied_head:
            self.head = nn.Linear(architecture.hidden, architecture.vocab, bias=False)

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Mean next-token cross-entropy; the logits are widened to fp32 first, in every precision."""
        logits = self.logits(inputs)
        return F.cross_entropy(logits.float().view(-1, logits.shape[-1]), targets.reshape(-1))

    def logits(self, inputs: Tensor) -> Tensor:
        """Return scores of shape (batch, seq_len, vocab)."""
        hidden = self.tokens(inputs)
        if self.positions is not None:
            hidden = hidden + self.positions(torch.arange(inputs.shape[1], device=inputs.device))
        for block in self.blocks:
            hidden = block(hidden, self._rope)
        hidden = self.final_norm(hidden)
        scores: Tensor = F.linear(hidden, self.tokens.weight) if self.head is None else self.head(hidden)
        return scores

    def init_weights(self, seed: int, place: Place = Tensor.copy_) -> None:
        """Fill every weight and table. The same seed on the same kind of device gives the same model.

        Weights are drawn whole, in fp32, one after the other, and handed to `place(parameter, values)`: a sharded
        or rounded model is the same model, and no device needs room for more than one weight beside its own share.
        """
        device = self.tokens.weight.device
        generator = torch.Generator(device=device).manual_seed(seed)
        residual_std = INIT_STD / math.sqrt(2 * self.architecture.layers)
        with torch.no_grad():
            for name, module in self.named_modules():
                if isinstance(module, (nn.Linear, nn.Embedding)):
                    values = torch.empty(module.weight.shape, dtype=torch.float32, device=device)
                    into_residual = name.endswith((".out", ".down"))
                    values.normal_(0.0, residual_std if into_residual else INIT_STD, generator=generator)
                    place(module.weight, values)
                elif isinstance(module, (nn.LayerNorm, RMSNorm)):
                    module.weight.fill_(1.0)
                bias = getattr(module, "bias", None)
                if isinstance(bias, Tensor):
                    bias.zero_()
        if self.positions is None:
            self._rope = rope_tables(self.architecture, seq_len=self.seq_len, device=device)


class Block(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.attention_norm = _norm(architecture, architecture.hidden)
        self.attention = Attention(architecture)
        self.mlp_norm = _norm(architecture, architecture.hidden)
        self.mlp = GeluMlp(architecture) if architecture.mlp == "gelu" else SwigluMlp(architecture)

    def forward(self, hidden: Tensor, rope: Optional[Rope]) -> Tensor:
        """Return the residual stream after this block."""
        hidden = hidden + self.attention(self.attention_norm(hidden), rope)
        after: Tensor = hidden + self.mlp(self.mlp_norm(hidden))
        return after


class Attention(nn.Module):
    """Causal attention with grouped key and value heads, through torch's scaled_dot_product_attention."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = architecture.heads, architecture.kv_heads, architecture.head_dim
        hidden, bias = architecture.hidden, architecture.bias
        self.query = nn.Linear(hidden, self.heads * self.head_dim, bias=bias)
        self.key = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=bias)
        self.value = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=bias)
        self.out = nn.Linear(self.heads * self.head_dim, hidden, bias=bias)
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

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.up = nn.Linear(architecture.hidden, architecture.ffn_hidden, bias=architecture.bias)
        self.down = nn.Linear(architecture.ffn_hidden, architecture.hidden, bias=architecture.bias)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the contribution to the residual stream."""
        projected: Tensor = self.down(F.gelu(self.up(hidden), approximate="tanh"))
        return projected


class SwigluMlp(nn.Module):
    """down(silu(gate(x)) * up(x)). Source: Shazeer 2020, GLU variants."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.gate = nn.Linear(architecture.hidden, architecture.ffn_hidden, bias=architecture.bias)
        self.up = nn.Linear(architecture.hidden, architecture.ffn_hidden, bias=architecture.bias)
        self.down = nn.Linear(architecture.ffn_hidden, architecture.hidden, bias=architecture.bias)

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


def _norm(architecture: Architecture, size: int) -> nn.Module:
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
