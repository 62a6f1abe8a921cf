"""Output layer and cross-entropy together: the gradients are computed with the loss, piece by piece.

The logits of all tokens never exist at one time. No product runs twice, as it does when each piece of a chunked loss is
recomputed in the backward pass. Plain torch, so that it can be copied. The method: Hsu et al. 2024 (Liger Kernel),
section 3.2; Wijmans et al. 2024 (Cut Cross-Entropy).
"""

from __future__ import annotations

from typing import Any, Callable, Tuple

import torch
from torch import Tensor

from ..models.base import NO_TARGET

Piece = Callable[[Tensor, Tensor], Tuple[Tensor, Tensor]]


def piece_of_loss(logits: Tensor, targets: Tensor) -> Tuple[Tensor, Tensor]:
    """Return the summed loss of some tokens in nats, and its gradient with respect to their logits.

    The gradient is softmax minus one at the target. Both are in fp32, and zero at positions without a target.
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
        head, of_hidden = weight.to(dtype), torch.empty_like(hidden)
        of_head = torch.zeros_like(weight)
        with torch.autocast(hidden.device.type, enabled=False):
            parts = zip(hidden.chunk(pieces), targets.chunk(pieces), of_hidden.chunk(pieces))
            for some, wanted, into in parts:
                narrow = some.to(dtype)
                loss, gradient = piece(narrow @ head.t(), wanted)
                total += loss
                into.copy_(gradient @ head)
                of_head += gradient.t() @ narrow
        ctx.save_for_backward(of_hidden, of_head)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tuple[Any, ...]:
        of_hidden, of_head = ctx.saved_tensors
        scale = gradients[0]
        return of_hidden * scale.to(of_hidden.dtype), of_head * scale, None, None, None, None


def fused_loss(
    hidden: Tensor, weight: Tensor, targets: Tensor, *, pieces: int, dtype: torch.dtype, piece: Piece = piece_of_loss
) -> Tensor:
    """Return the cross-entropy summed over tokens. `hidden` is (tokens, width), `weight` (vocabulary, width).

    `dtype` is the type of the products. The weight's gradient is summed in the weight's own type.
    """
    total: Tensor = _FusedLoss.apply(hidden, weight, targets, pieces, dtype, piece)  # type: ignore[no-untyped-call]
    return total
