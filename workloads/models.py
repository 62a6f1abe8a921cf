"""Knows one model: a decoder-only transformer in plain torch, built from the spec's architecture.

It is built on the meta device (shapes only) and filled by `init_weights`, so that a sharding strategy can split it
before any memory is taken, and so that parameters can be counted without a node.
"""

from __future__ import annotations

import math
from typing import Callable, Optional

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own habit)
from torch import Tensor, nn

from workloads.layers import Attention, GeluMlp, RMSNorm, Rope, SwigluMlp, norm, rope_tables
from workloads.lora import freeze_all_but_adapters, is_zero_at_start
from workloads.recompute import recomputed
from workloads.spec import Architecture, Lora, Spec

Place = Callable[[Tensor, Tensor], object]

INIT_STD = 0.02  # GPT-2: normal weights of 0.02, projections into the residual stream divided by sqrt(2 layers)
NO_TARGET = -100  # torch's own mark of a position without a target, such as padding


def build_on_meta(spec: Spec) -> Decoder:
    """Return the model without memory behind it: call `to_empty(device=...)`, then `init_weights`."""
    with torch.device("meta"):
        return Decoder(
            spec.architecture,
            seq_len=spec.seq_len,
            checkpointing=spec.checkpointing,
            loss_chunks=spec.loss_chunks,
            lora=spec.lora,
        )


def count_parameters(model: nn.Module, *, trained_only: bool = False) -> int:
    """All weights; a tied head counts once, position tables of RoPE not at all (they are no weights)."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad or not trained_only)


class Decoder(nn.Module):
    """Token embedding, pre-norm blocks, final norm, head. `forward` returns the mean cross-entropy in nats."""

    def __init__(
        self,
        architecture: Architecture,
        *,
        seq_len: int,
        checkpointing: str = "none",
        loss_chunks: int = 1,
        lora: Optional[Lora] = None,
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.seq_len = seq_len
        self.loss_chunks = loss_chunks
        self.tokens = nn.Embedding(architecture.vocab, architecture.hidden)
        self.positions: Optional[nn.Embedding] = None
        if architecture.positions == "learned":
            self.positions = nn.Embedding(architecture.max_positions, architecture.hidden)
        # Constant tables, not buffers: a strategy would send buffers to every rank in every step, or cast them.
        self._rope: Optional[Rope] = None
        self.blocks = nn.ModuleList(Block(architecture, checkpointing, lora) for _ in range(architecture.layers))
        self.final_norm = norm(architecture, architecture.hidden)
        # A tied head multiplies with the embedding's own weight: no second Parameter that to_empty() could untie.
        self.head: Optional[nn.Linear] = None
        if not architecture.tied_head:
            self.head = nn.Linear(architecture.hidden, architecture.vocab, bias=False)
        self._compiled_loss: Optional[Callable[[Tensor, Tensor], Tensor]] = None
        if lora is not None:
            freeze_all_but_adapters(self)

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Mean next-token cross-entropy over the positions that have a target."""
        hidden = self._hidden_states(inputs).flatten(0, 1)
        targets = targets.flatten()
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
        """Compile what repeats, each block and the loss; what a strategy does between blocks stays outside."""
        for block in self.blocks:
            assert isinstance(block, Block)
            block.compile_body()
        self._compiled_loss = torch.compile(self._summed_loss)

    def init_weights(self, seed: int, place: Place = Tensor.copy_) -> None:
        """Fill every weight and table. The same seed on the same kind of device gives the same model.

        Weights are drawn whole, in fp32, one after the other, and handed to `place(parameter, values)`: a sharded
        or rounded model is the same model, and no device needs room for more than one weight beside its own share.
        Adapters are drawn last: the frozen model is the one that full training starts from.
        """
        device = self.tokens.weight.device
        generator = torch.Generator(device=device).manual_seed(seed)
        residual_std = INIT_STD / math.sqrt(2 * self.architecture.layers)
        named = [(name, module) for name, module in self.named_modules() if name]
        with torch.no_grad():
            for name, module in sorted(named, key=lambda item: ".adapter_" in item[0]):
                if isinstance(module, (nn.Linear, nn.Embedding)):
                    values = torch.empty(module.weight.shape, dtype=torch.float32, device=device)
                    into_residual = name.endswith((".out", ".down"))
                    std = 0.0 if is_zero_at_start(name) else residual_std if into_residual else INIT_STD
                    place(module.weight, values.normal_(0.0, std, generator=generator))
                elif isinstance(module, (nn.LayerNorm, RMSNorm)):
                    module.weight.fill_(1.0)
                bias = getattr(module, "bias", None)
                if isinstance(bias, Tensor):
                    bias.zero_()
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

    def _summed_loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Cross-entropy summed over positions; the logits are widened to fp32 first, in every precision."""
        return F.cross_entropy(self._scores(hidden).float(), targets, reduction="sum", ignore_index=NO_TARGET)


class Block(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, architecture: Architecture, checkpointing: str, lora: Optional[Lora]) -> None:
        super().__init__()
        self.attention_norm = norm(architecture, architecture.hidden)
        self.attention = Attention(architecture, lora)
        self.mlp_norm = norm(architecture, architecture.hidden)
        self.mlp = GeluMlp(architecture, lora) if architecture.mlp == "gelu" else SwigluMlp(architecture, lora)
        self._checkpointing = checkpointing
        self._compiled: Optional[Callable[[Tensor, Optional[Rope]], Tensor]] = None

    def forward(self, hidden: Tensor, rope: Optional[Rope]) -> Tensor:
        """Return the residual stream after this block."""
        return (self._compiled or self._body)(hidden, rope)

    def compile_body(self) -> None:
        """Compile from inside the block: the hooks that a strategy puts around it stay outside."""
        self._compiled = torch.compile(self._body)

    def _body(self, hidden: Tensor, rope: Optional[Rope]) -> Tensor:
        return recomputed(self._layers, self._checkpointing, hidden, rope)

    def _layers(self, hidden: Tensor, rope: Optional[Rope]) -> Tensor:
        hidden = hidden + self.attention(self.attention_norm(hidden), rope)
        after: Tensor = hidden + self.mlp(self.mlp_norm(hidden))
        return after
