"""Trainings steps on preferences in plain torch, as TRL runs them: what formulas are compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Decoder

SEQ_LEN = 32


def network(*, layers: int = 2, hidden: int = 64) -> Decoder:
    """Return a small decoder whose heads are not grouped."""
    return Decoder(
        layers=layers, hidden=hidden, heads=4, kv_heads=4, head_dim=hidden // 4, ffn_hidden=3 * hidden, mlp="swiglu",
        norm="rmsnorm", positions="rope", max_positions=SEQ_LEN, vocab=512, tied_head=False,
    )  # fmt: skip


def model_of_network(decoder: Decoder, adapters: Adapters | None = None, *, scalar: bool = False) -> Any:
    """Return the benchmark's model of a decoder; `scalar`: its head gives one number."""
    from planner.workloads.contract.spec import Lora
    from planner.workloads.contract.spec_reader import architecture_of
    from planner.workloads.models.registry import model_of

    lora = None if adapters is None else Lora(rank=adapters.rank, alpha=1.0, targets=adapters.targets)
    model = model_of(architecture_of(decoder.model_dump(mode="json")), seq_len=SEQ_LEN, lora=lora)
    model.init_weights(seed=0)
    if scalar:
        model.head = torch.nn.Linear(decoder.hidden, 1, bias=False)
    return model


def log_probabilities(model: Any, tokens: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of each sequence: of every token after the one before it."""
    logits = model.logits(tokens)
    chosen = F.log_softmax(logits[:, :-1], dim=-1).gather(-1, tokens[:, 1:, None])
    return chosen.squeeze(-1).sum(-1)


def without_gradients(model: Any, tokens: torch.Tensor) -> torch.Tensor:
    """Return the log-probabilities of a reference."""
    with torch.no_grad():
        return log_probabilities(model, tokens)


def pairs(decoder: Decoder, count: int) -> torch.Tensor:
    """Return chosen answers, and rejected ones after them, in one batch as TRL concatenates them."""
    return torch.randint(0, decoder.vocab, (2 * count, SEQ_LEN), generator=torch.Generator().manual_seed(0))


def dpo(model: Any, reference: Any, tokens: torch.Tensor) -> torch.Tensor:
    """Return the loss of Rafailov et al. 2023, equation 7; `reference` None: computed beforehand."""
    mine = log_probabilities(model, tokens)
    theirs = torch.zeros_like(mine) if reference is None else without_gradients(reference, tokens)
    chosen, rejected = (mine - theirs).chunk(2)
    return -F.logsigmoid(0.1 * (chosen - rejected)).mean()


def simpo(model: Any, reference: Any, tokens: torch.Tensor) -> torch.Tensor:
    """Return the loss of Meng et al. 2024, equation 6."""
    chosen, rejected = (log_probabilities(model, tokens) / SEQ_LEN).chunk(2)
    return -F.logsigmoid(2.0 * (chosen - rejected) - 0.5).mean()


def kto(model: Any, reference: Any, tokens: torch.Tensor) -> torch.Tensor:
    """Return the loss of Ethayarajh et al. 2024 on good answers; each answer is also read after another's prompt."""
    mismatched = tokens.roll(1, 0)
    divergence = (without_gradients(model, mismatched) - without_gradients(reference, mismatched)).mean().clamp(min=0)
    rewards = log_probabilities(model, tokens) - without_gradients(reference, tokens)
    return (1 - torch.sigmoid(0.1 * (rewards - divergence))).mean()


def reward(model: Any, reference: Any, tokens: torch.Tensor) -> torch.Tensor:
    """Return the loss of Ouyang et al. 2022, equation 1: the score after the last token."""
    chosen, rejected = model.logits(tokens)[:, -1, 0].chunk(2)
    return -F.logsigmoid(chosen - rejected).mean()


LOSSES: dict[str, Callable[[Any, Any, torch.Tensor], torch.Tensor]] = {
    "dpo": dpo, "orpo": simpo, "simpo": simpo, "kto": kto, "reward": reward,
}  # fmt: skip
"""ORPO's passes are those of SimPO: one over both answers."""
