"""Computes output layer, cross-entropy and their gradients together, piece by piece.

The logits of all tokens never exist at the same time. No matrix product runs twice; in a chunked loss each piece is
recomputed in the backward pass. Only plain torch is used, so that the file can be copied to a node. Method: Hsu et al.
2024 (Liger Kernel), section 3.2; Wijmans et al. 2024 (Cut Cross-Entropy).
"""

from __future__ import annotations

from typing import Any, Callable, Tuple

import torch
from torch import Tensor

from ..models.base import NO_TARGET

Piece = Callable[[Tensor, Tensor], Tuple[Tensor, Tensor]]


def piece_of_loss(logits: Tensor, targets: Tensor) -> Tuple[Tensor, Tensor]:
    """Return the loss of a piece summed over its tokens, in nats, and its gradient with respect to their logits.

    The gradient is the softmax, minus one at the target. Both are computed in fp32, and are zero without a target.
    """
    scores = logits.float()
    has_target = targets != NO_TARGET
    at = torch.where(has_target, targets, 0).unsqueeze(1)
    log_sum = torch.logsumexp(scores, dim=1, keepdim=True)
    loss = ((log_sum - scores.gather(1, at)).squeeze(1) * has_target).sum()
    columns = torch.arange(scores.shape[1], device=scores.device)
    gradient = torch.exp(scores - log_sum) - (columns == at).float()
    return loss, (gradient * has_target.unsqueeze(1)).to(logits.dtype)


class _FusedLoss(torch.autograd.Function):
    """Keeps the gradients from the forward pass, and scales them in the backward pass."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor, pieces: int, dtype: torch.dtype, piece: Piece
    ) -> Tensor:
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        head, hidden_gradient = weight.to(dtype), torch.empty_like(hidden)
        weight_gradient = torch.zeros_like(weight)
        with torch.autocast(hidden.device.type, enabled=False):
            parts = zip(hidden.chunk(pieces), targets.chunk(pieces), hidden_gradient.chunk(pieces))
            for part_hidden, part_targets, part_gradient in parts:
                narrow = part_hidden.to(dtype)
                loss, gradient = piece(narrow @ head.t(), part_targets)
                total += loss
                part_gradient.copy_(gradient @ head)
                weight_gradient += gradient.t() @ narrow
        ctx.save_for_backward(hidden_gradient, weight_gradient)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tuple[Any, ...]:
        hidden_gradient, weight_gradient = ctx.saved_tensors
        scale = gradients[0]
        return hidden_gradient * scale.to(hidden_gradient.dtype), weight_gradient * scale, None, None, None, None


def fused_loss(
    hidden: Tensor, weight: Tensor, targets: Tensor, *, pieces: int, dtype: torch.dtype, piece: Piece = piece_of_loss
) -> Tensor:
    """Return the cross-entropy summed over tokens. `hidden` is (tokens, width), `weight` (vocabulary, width).

    `dtype` is the type of the products. The weight's gradient is summed in the weight's own type.
    """
    total: Tensor = _FusedLoss.apply(hidden, weight, targets, pieces, dtype, piece)  # type: ignore[no-untyped-call]
    return total
