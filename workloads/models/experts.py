"""Mixture of experts: a router sends each token to a few experts, and no token is dropped.

All experts of a layer are one weight, so every rank takes part in every collective whatever its tokens choose. An
expert without tokens gets a gradient of zeros, so no strategy has to look for unused parameters. There is no loss that
balances the experts: a run as short as a benchmark keeps its initial balance.
"""

from __future__ import annotations

from typing import List, Sequence

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own habit)
from torch import Tensor, nn

from ..contract.architecture import MoeDecoderShape
from ..models.layers import MLPS, compute_type


class MixtureOfExperts(nn.Module):
    """Sum over a token's chosen experts of gate x expert(token), plus the shared experts.

    gates = softmax over the scores of the `experts_per_token` best (Jiang et al. 2024, Mixtral; Qwen3 does the same).
    """

    def __init__(self, shape: MoeDecoderShape) -> None:
        super().__init__()
        self.experts_per_token = shape.experts_per_token
        self.router = nn.Linear(shape.hidden, shape.experts, bias=False)
        self.experts = Experts(shape)
        self.shared = None
        if shape.shared_experts:
            self.shared = MLPS[shape.mlp](shape.hidden, shape.shared_experts * shape.moe_ffn_hidden, bias=shape.bias)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the contribution to the residual stream."""
        tokens = hidden.flatten(0, -2)
        best, chosen = self.router(tokens).float().topk(self.experts_per_token, dim=-1)
        by_expert = chosen.flatten().argsort(stable=True)
        ends = F.one_hot(chosen.flatten(), self.experts.count).sum(dim=0).cumsum(dim=0)
        copies = tokens.to(compute_type(self.experts.up)).index_select(0, by_expert // self.experts_per_token)
        outputs = self.experts(copies, ends).index_select(0, by_expert.argsort())  # back in the order of tokens
        gates = best.softmax(dim=-1).to(outputs.dtype)
        mixed = (outputs.view(*gates.shape, -1) * gates.unsqueeze(-1)).sum(dim=1)
        if self.shared is not None:
            mixed = mixed + self.shared(tokens)
        contribution: Tensor = mixed.to(hidden.dtype).view_as(hidden)
        return contribution


class Experts(nn.Module):
    """Routed experts of a layer, with stacked weights (experts, outputs, inputs)."""

    def __init__(self, shape: MoeDecoderShape) -> None:
        super().__init__()
        self.count = shape.experts
        into = (shape.experts, shape.moe_ffn_hidden, shape.hidden)
        self.gate = nn.Parameter(torch.empty(into)) if shape.mlp == "swiglu" else None
        self.up = nn.Parameter(torch.empty(into))
        self.down = nn.Parameter(torch.empty(shape.experts, shape.hidden, shape.moe_ffn_hidden))

    def into_experts(self) -> List[Tensor]:
        """Return the weights that read the residual stream."""
        return [self.up] if self.gate is None else [self.gate, self.up]

    def forward(self, tokens: Tensor, ends: Tensor) -> Tensor:
        """Map tokens that are sorted by expert. Expert i has those from ends[i - 1] to ends[i]."""
        up = _grouped(tokens, self.up, ends)
        if self.gate is None:
            return _grouped(F.gelu(up, approximate="tanh"), self.down, ends)
        return _grouped(F.silu(_grouped(tokens, self.gate, ends)) * up, self.down, ends)


def _grouped(tokens: Tensor, weight: Tensor, ends: Tensor) -> Tensor:
    """Return tokens x weight[expert]^T: one call in bf16 if this torch has it, otherwise a product per expert.

    The loop needs each expert's number of tokens, so there the host waits for the device.
    """
    dtype = compute_type(weight)
    if dtype is torch.bfloat16 and hasattr(F, "grouped_mm"):
        product: Tensor = F.grouped_mm(tokens.to(dtype), weight.to(dtype).transpose(-2, -1), offs=ends.to(torch.int32))
        return product
    starts_and_ends: Sequence[int] = [0, *ends.tolist()]
    sizes: List[int] = [end - start for start, end in zip(starts_and_ends, starts_and_ends[1:])]
    parts = zip(torch.split(tokens, sizes), weight.unbind(0))
    return torch.cat([F.linear(part, expert) for part, expert in parts])
