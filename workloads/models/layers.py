"""Transformer block and its parts: attention, the two kinds of mlp, norms, rotary positions, linear maps."""

from __future__ import annotations

from typing import Callable, Dict, Optional, Tuple, Type, Union

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own habit)
from torch import Tensor, nn

from ..contract.architecture import TextShape
from ..contract.spec import Lora
from ..models.lora import LoraLinear
from ..models.recompute import recomputed

Rope = Tuple[Tensor, Tensor]


class Block(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(
        self,
        attention_norm: nn.Module,
        attention: AttentionLayer,
        mlp_norm: nn.Module,
        mlp: nn.Module,
        checkpointing: str,
    ) -> None:
        super().__init__()
        self.attention_norm = attention_norm
        self.attention = attention
        self.mlp_norm = mlp_norm
        self.mlp = mlp
        self._checkpointing = checkpointing
        self._compiled: Optional[Callable[[Tensor, Optional[Rope]], Tensor]] = None

    def forward(self, hidden: Tensor, rope: Optional[Rope] = None) -> Tensor:
        """Return the residual stream after this block."""
        return (self._compiled or self._body)(hidden, rope)

    def compile_body(self, *, cuda_graphs: bool = False) -> None:
        """Compile from inside the block, so that the hooks that a strategy puts around it stay outside.

        With `cuda_graphs` its kernels are recorded and launched as one, which costs memory and saves the host's time.
        """
        self._compiled = torch.compile(self._body, mode="reduce-overhead" if cuda_graphs else None)

    def _body(self, hidden: Tensor, rope: Optional[Rope]) -> Tensor:
        return recomputed(self._layers, self._checkpointing, hidden, rope)

    def _layers(self, hidden: Tensor, rope: Optional[Rope]) -> Tensor:
        hidden = hidden + self.attention(self.attention_norm(hidden), rope)
        after: Tensor = hidden + self.mlp(self.mlp_norm(hidden))
        return after


class AttentionLayer(nn.Module):
    """Attention with grouped key and value heads, through torch's scaled_dot_product_attention."""

    def __init__(
        self,
        hidden: int,
        *,
        heads: int,
        kv_heads: int,
        head_dim: int,
        bias: bool,
        causal: bool,
        window: Optional[int] = None,
        qk_norm_eps: Optional[float] = None,
        lora: Optional[Lora] = None,
    ) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim, self.causal, self.window = heads, kv_heads, head_dim, causal, window
        self.query = linear("query", hidden, heads * head_dim, bias=bias, lora=lora)
        self.key = linear("key", hidden, kv_heads * head_dim, bias=bias, lora=lora)
        self.value = linear("value", hidden, kv_heads * head_dim, bias=bias, lora=lora)
        self.out = linear("out", heads * head_dim, hidden, bias=bias, lora=lora)
        # Per-head norms carry no bias: Qwen3 uses RMSNorm here.
        self.query_norm = RMSNorm(head_dim, qk_norm_eps) if qk_norm_eps is not None else None
        self.key_norm = RMSNorm(head_dim, qk_norm_eps) if qk_norm_eps is not None else None

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
        mask = None if self.window is None or self.window >= seq_len else _band(seq_len, self.window, hidden.device)
        causal = self.causal and mask is None
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=causal)
        projected: Tensor = self.out(mixed.transpose(1, 2).reshape(batch, seq_len, self.heads * self.head_dim))
        return projected


def _band(seq_len: int, window: int, device: torch.device) -> Tensor:
    """Return which tokens each token attends to: itself and those before it, `window` in all."""
    places = torch.arange(seq_len, device=device)
    before = places[:, None] - places[None, :]
    return (before >= 0) & (before < window)


class GeluMlp(nn.Module):
    """down(gelu(up(x))), with GPT-2's tanh form of GELU, or the exact one ("none") of vision transformers."""

    def __init__(
        self, hidden: int, ffn_hidden: int, *, bias: bool, lora: Optional[Lora] = None, approximate: str = "tanh"
    ) -> None:
        super().__init__()
        self._approximate = approximate
        self.up = linear("up", hidden, ffn_hidden, bias=bias, lora=lora)
        self.down = linear("down", ffn_hidden, hidden, bias=bias, lora=lora)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the contribution to the residual stream."""
        projected: Tensor = self.down(F.gelu(self.up(hidden), approximate=self._approximate))
        return projected


class SwigluMlp(nn.Module):
    """down(silu(gate(x)) * up(x)). Source: Shazeer 2020, GLU variants."""

    def __init__(self, hidden: int, ffn_hidden: int, *, bias: bool, lora: Optional[Lora] = None) -> None:
        super().__init__()
        self.gate = linear("gate", hidden, ffn_hidden, bias=bias, lora=lora)
        self.up = linear("up", hidden, ffn_hidden, bias=bias, lora=lora)
        self.down = linear("down", ffn_hidden, hidden, bias=bias, lora=lora)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the contribution to the residual stream."""
        projected: Tensor = self.down(F.silu(self.gate(hidden)) * self.up(hidden))
        return projected


MLPS: Dict[str, Type[Union[GeluMlp, SwigluMlp]]] = {"gelu": GeluMlp, "swiglu": SwigluMlp}


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight. Source: Zhang and Sennrich 2019."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        self.eps = eps

    def forward(self, hidden: Tensor) -> Tensor:
        """Normalise the last dimension.

        The weight is cast to the input's type; otherwise torch would not use its fused kernel.
        """
        return F.rms_norm(hidden, (hidden.shape[-1],), self.weight.to(hidden.dtype), self.eps)


def linear(name: str, inputs: int, outputs: int, *, bias: bool, lora: Optional[Lora]) -> nn.Linear:
    """Return the linear map of this name, with an adapter if LoRA asks for one."""
    if lora is not None and name in lora.targets:
        return LoraLinear(inputs, outputs, bias=bias, lora=lora)
    return nn.Linear(inputs, outputs, bias=bias)


def norm(architecture: TextShape, size: int) -> nn.Module:
    """Return the architecture's norm over the last dimension."""
    if architecture.norm == "rmsnorm":
        return RMSNorm(size, architecture.norm_eps)
    return nn.LayerNorm(size, eps=architecture.norm_eps, bias=architecture.bias)


def rope_tables(architecture: TextShape, *, seq_len: int, device: torch.device) -> Rope:
    """Return cos and sin of angle(position, i) = position / theta^(2 i / head_dim).

    Both have shape (seq_len, head_dim / 2). Source: Su et al. 2021, RoFormer.
    """
    half = architecture.head_dim // 2
    frequencies = architecture.rope_theta ** -(torch.arange(half, device=device, dtype=torch.float32) / half)
    angles = torch.outer(torch.arange(seq_len, device=device, dtype=torch.float32), frequencies)
    return angles.cos(), angles.sin()


def compute_type(weight: Tensor) -> torch.dtype:
    """Return the type in which products with this weight are computed: autocast's, or the weight's own."""
    device_type = weight.device.type
    return torch.get_autocast_dtype(device_type) if torch.is_autocast_enabled(device_type) else weight.dtype


def _rotate(states: Tensor, rope: Rope) -> Tensor:
    """Rotate the pairs (i, i + head_dim / 2) by the position's angle, as Llama and Qwen checkpoints do."""
    seq_len = states.shape[-2]
    cos, sin = (table[:seq_len].to(states.dtype) for table in rope)
    first, second = states.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
