"""FLOPs of a sample as a function of its length: the fewest possible, the headline's, and recomputation's."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.model.network.architecture import Architecture
from planner.model.plan.plan import FlopsConvention
from planner.network.flops import flops_per_sample, matmul_parameters

IN_PRODUCTS = 0.75
"""Smallest share of parameters in products.

Embeddings that are only looked up are 7 % of Llama 3 8B and 13 % of Pythia 410M.
"""


@dataclass(frozen=True)
class StatedWork:
    """FLOPs of a sample: least = tokens x token_flops + pair x attention x tokens^2.

    `pair` is 6 if tokens see only earlier ones, otherwise 12. `attention` is layers x heads x head size.
    `layer_forward` is FLOPs per token of a forward pass through the layers. `of_an_image` is FLOPs of a sample without
    length.
    """

    token_flops: float = 0.0
    layer_forward: float = 0.0
    attention: float = 0.0
    causal: bool = True
    of_an_image: float | None = None

    def least(self, tokens: float) -> float:
        """Return the fewest FLOPs: no recomputation, half of the attention if it is causal."""
        return self._of(tokens, 6.0 if self.causal else 12.0)

    def headline(self, tokens: float) -> float:
        """Return FLOPs with full attention, as publications count them."""
        return self._of(tokens, 12.0)

    def recomputed(self, tokens: float) -> float:
        """Return FLOPs of a second forward pass through the layers."""
        if self.of_an_image is not None:
            return self.of_an_image / 3
        return tokens * self.layer_forward + (2.0 if self.causal else 4.0) * self.attention * tokens**2

    def tokens_within(self, flops: float) -> float:
        """Return the longest sample whose fewest FLOPs are within a budget: the root of a quadratic."""
        square = (6.0 if self.causal else 12.0) * self.attention
        if square == 0:
            return flops / self.token_flops
        return (math.sqrt(self.token_flops**2 + 4 * square * flops) - self.token_flops) / (2 * square)

    def _of(self, tokens: float, pair: float) -> float:
        if self.of_an_image is not None:
            return self.of_an_image
        return tokens * self.token_flops + pair * self.attention * tokens**2


def work_of(architecture: Architecture, *, adapters: bool) -> StatedWork:
    """Count a network: 6 FLOPs per parameter in a product and token, 4 if only adapters are trained."""
    if architecture.sample == "image":
        convention = FlopsConvention.FULL_ATTENTION
        return StatedWork(of_an_image=flops_per_sample(architecture, seq_len=None, convention=convention))
    met = matmul_parameters(architecture)
    return StatedWork(
        token_flops=(4.0 if adapters else 6.0) * met,
        layer_forward=2.0 * (met - architecture.vocab * architecture.hidden),
        attention=float(architecture.layers * architecture.heads * architecture.head_dim),
        causal=architecture.is_causal,
    )


def work_of_parameters(met: float, *, adapters: bool) -> StatedWork:
    """Count a network of which only the parameters are known: three quarters of them are certainly in products.

    The rest may be embeddings, which are looked up; attention is left out.
    """
    return StatedWork(token_flops=(4.0 if adapters else 6.0) * IN_PRODUCTS * met, layer_forward=2.0 * IN_PRODUCTS * met)
