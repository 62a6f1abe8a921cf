"""Decoder-only transformer in plain torch, dense or a mixture of experts, with its output layer and loss.

The fused loss computes the gradients of output layer and cross-entropy piece by piece, together with the loss. The
logits of all tokens never exist at the same time. No matrix product runs twice; in a chunked loss each piece is
recomputed in the backward pass. Method: Hsu et al. 2024 (Liger Kernel), section 3.2; Wijmans et al. 2024 (Cut
Cross-Entropy).
"""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Tuple

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own habit)
from torch import Tensor, nn

from ..contract.architecture import TextShape
from ..contract.spec import Lora
from ..models.base import NO_TARGET, Draw, Model
from ..models.experts import Experts, MixtureOfExperts
from ..models.layers import MLPS, AttentionLayer, Block, RMSNorm, Rope, compute_type, norm, rope_tables
from ..models.lora import freeze_all_but_adapters, is_zero_at_start
from ..models.recompute import recomputed

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


INIT_STD = 0.02  # GPT-2: normal weights of 0.02, projections into the residual stream divided by sqrt(2 layers)


class DecoderModel(Model):
    """Token embedding, pre-norm blocks, final norm, head. `forward` returns the mean cross-entropy in nats."""

    def __init__(
        self,
        architecture: TextShape,
        *,
        seq_len: int,
        checkpointing: str = "none",
        loss_chunks: int = 1,
        fused_loss: bool = False,
        cuda_graphs: bool = False,
        lora: Optional[Lora] = None,
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.seq_len = seq_len
        self._residual_std = INIT_STD / math.sqrt(2 * architecture.layers)
        self.loss_chunks = loss_chunks
        self._fused_loss, self._cuda_graphs = fused_loss, cuda_graphs
        self._piece: Piece = piece_of_loss
        self.tokens = nn.Embedding(architecture.vocab, architecture.hidden)
        self.positions: Optional[nn.Embedding] = None
        if architecture.positions == "learned":
            self.positions = nn.Embedding(architecture.max_positions, architecture.hidden)
        # Constant tables, not buffers: a strategy would send buffers to every rank in every step, or cast them.
        self._rope: Optional[Rope] = None
        self.blocks = nn.ModuleList(
            block(architecture, number, checkpointing, lora) for number in range(architecture.layers)
        )
        self.final_norm = norm(architecture, architecture.hidden)
        # A tied head multiplies with the embedding's own weight: no second Parameter that to_empty() could untie.
        self.head: Optional[nn.Linear] = None
        if not architecture.tied_head:
            self.head = nn.Linear(architecture.hidden, architecture.vocab, bias=False)
        self._compiled_loss: Optional[Callable[[Tensor, Tensor], Tensor]] = None
        if lora is not None:
            freeze_all_but_adapters(self)

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean next-token cross-entropy over the positions that have a target."""
        if self._cuda_graphs:
            torch.compiler.cudagraph_mark_step_begin()  # type: ignore[no-untyped-call]  # what the last pass left may be written over
        hidden = self._hidden_states(inputs).flatten(0, 1)
        targets = targets.flatten()
        if self._fused_loss:
            return self._loss_with_gradients(hidden, targets) / (targets != NO_TARGET).sum()
        summed_loss = self._compiled_loss or self._summed_loss
        if self.loss_chunks == 1:
            total = summed_loss(hidden, targets)
        else:
            chunks = zip(hidden.chunk(self.loss_chunks), targets.chunk(self.loss_chunks))
            total = torch.stack([recomputed(summed_loss, "full", *chunk) for chunk in chunks]).sum()
        return total / (targets != NO_TARGET).sum()

    def logits(self, inputs: Tensor) -> Tensor:
        """Return scores of shape (batch, seq_len, vocab)."""
        return self._scores(self._hidden_states(inputs))

    def compile_parts(self) -> None:
        """Compile the repeated parts: each block and the loss. What a strategy does between blocks stays outside."""
        for block in self.blocks:
            assert isinstance(block, Block)
            block.compile_body(cuda_graphs=self._cuda_graphs)
        self._compiled_loss = torch.compile(self._summed_loss)
        self._piece = torch.compile(piece_of_loss)

    def fill(self, name: str, module: nn.Module, draw: Draw) -> None:
        """Draw normal weights as GPT-2 does. Norms start at one, the second half of an adapter at zero."""
        if isinstance(module, (nn.Linear, nn.Embedding)):
            into_residual = name.endswith((".out", ".down"))
            std = 0.0 if is_zero_at_start(name) else self._residual_std if into_residual else INIT_STD
            draw(module.weight, std)
        elif isinstance(module, Experts):
            for weight in module.into_experts():
                draw(weight, INIT_STD)
            draw(module.down, self._residual_std)
        elif isinstance(module, (nn.LayerNorm, RMSNorm)):
            module.weight.fill_(1.0)

    def make_tables(self, device: torch.device) -> None:
        """Make the tables of rotary positions."""
        if self.positions is None:
            self._rope = rope_tables(self.architecture, seq_len=self.seq_len, device=device)

    def _hidden_states(self, inputs: Tensor) -> Tensor:
        hidden: Tensor = self.tokens(inputs)
        if self.positions is not None:
            hidden = hidden + self.positions(torch.arange(inputs.shape[1], device=inputs.device))
        for block in self.blocks:
            hidden = block(hidden, self._rope)
        normed: Tensor = self.final_norm(hidden)
        return normed

    def _scores(self, hidden: Tensor) -> Tensor:
        scores: Tensor = F.linear(hidden, self.tokens.weight) if self.head is None else self.head(hidden)
        return scores

    def _loss_with_gradients(self, hidden: Tensor, targets: Tensor) -> Tensor:
        weight = self.tokens.weight if self.head is None else self.head.weight
        return fused_loss(
            hidden, weight, targets, pieces=self.loss_chunks, dtype=compute_type(weight), piece=self._piece
        )

    def _summed_loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Return the cross-entropy summed over positions. The logits are widened to fp32 first, in every precision."""
        return F.cross_entropy(self._scores(hidden).float(), targets, reduction="sum", ignore_index=NO_TARGET)


def block(architecture: TextShape, number: int, checkpointing: str, lora: Optional[Lora]) -> Block:
    """Return layer `number`: attention, then a dense MLP or a mixture of experts."""
    hidden, bias = architecture.hidden, architecture.bias
    attention = AttentionLayer(
        hidden,
        heads=architecture.heads,
        kv_heads=architecture.kv_heads,
        head_dim=architecture.head_dim,
        bias=bias,
        causal=True,
        window=architecture.window_of(number),
        qk_norm_eps=architecture.norm_eps if architecture.qk_norm else None,
        lora=lora,
    )
    attention_norm = norm(architecture, hidden)
    experts = architecture.experts_of(number)
    if experts is not None:
        second: nn.Module = MixtureOfExperts(experts)
    else:
        assert architecture.ffn_hidden is not None
        second = MLPS[architecture.mlp](hidden, architecture.ffn_hidden, bias=bias, lora=lora)
    return Block(attention_norm, attention, norm(architecture, hidden), second, checkpointing)
