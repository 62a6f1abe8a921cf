"""Layers of a transformer as data: how many are alike, their shapes, and their weights."""

from __future__ import annotations

from typing import Literal, NamedTuple

from planner.model.network.architecture import Transformer


class LayerKind(NamedTuple):
    """Layers that are alike. One network may have several kinds: with experts and without, with windows and without."""

    layers: int
    """Number of such layers."""
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp: Literal["gelu", "swiglu"]
    norm: Literal["layernorm", "rmsnorm"]
    qk_norm: bool
    rotates: bool
    """True if queries and keys are rotated by their position (RoPE)."""
    is_causal: bool
    ffn_hidden: int = 0
    """Inner size of the MLP that every token passes; 0 in layers with experts."""
    experts: int = 0
    """Number of routed experts; 0 in a dense layer."""
    experts_per_token: int = 0
    moe_ffn_hidden: int = 0
    shared_experts: int = 0
    window: int | None = None
    """Largest number of tokens that a token attends to; None means the whole sample."""

    @property
    def q_dim(self) -> int:
        """Number of heads x their size."""
        return self.heads * self.head_dim

    @property
    def kv_dim(self) -> int:
        """Number of key and value heads x their size."""
        return self.kv_heads * self.head_dim

    @property
    def gated(self) -> bool:
        """True if the MLP has a gate, and so three matrices instead of two."""
        return self.mlp == "swiglu"

    @property
    def maps_in(self) -> int:
        """Number of the MLP's matrices that read the hidden state: up, and the gate."""
        return 2 if self.gated else 1

    def pairs(self, seq_len: float, *, masked: bool) -> float:
        """Return the tokens that a token attends to on average: the whole sample, or the window.

        With `masked`, without those that a causal mask leaves out: T / 2; in a window of W tokens W - W^2 / 2T.
        """
        reach = seq_len if self.window is None else min(seq_len, self.window)
        return reach - reach**2 / (2 * seq_len) if masked and self.is_causal else reach

    def matrices(self, *, routed: int | None = None) -> int:
        """Count the weights in matrix products of one layer.

        hidden x (2 heads + 2 heads of keys and values) x head size + matrices of the MLP; with experts: the router, and
        the matrices of shared and routed experts, of which `routed` are counted (all if it is None).
        """
        d, factors = self.hidden, self.maps_in + 1
        attention = 2 * d * (self.q_dim + self.kv_dim)
        experts = (self.experts if routed is None else routed) + self.shared_experts
        return attention + d * self.experts + factors * d * (self.ffn_hidden + experts * self.moe_ffn_hidden)

    def biases(self) -> int:
        """Count the biases of one layer's linear maps. Shared experts are one MLP; routed ones have none."""
        width = self.shared_experts * self.moe_ffn_hidden if self.experts else self.ffn_hidden
        mlp = self.maps_in * width + self.hidden if width else 0
        return self.q_dim + 2 * self.kv_dim + self.hidden + mlp


def layers_like(network: Transformer, layers: int) -> LayerKind:
    """Return layers with the attention of a network, and no MLP yet: `_replace` its sizes."""
    return LayerKind(
        layers=layers,
        hidden=network.hidden,
        heads=network.heads,
        kv_heads=network.kv_heads,
        head_dim=network.head_dim,
        mlp=network.mlp,
        norm=network.norm,
        qk_norm=network.qk_norm,
        rotates=network.positions == "rope",
        is_causal=network.is_causal,
    )
