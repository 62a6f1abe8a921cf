"""A training step on generated completions in plain torch, as TRL and verl run it: what formulas are compared with."""

from __future__ import annotations

from typing import Any

import torch

from tests.workloads.preference_steps import log_probabilities, without_gradients


def grpo(model: Any, reference: Any, tokens: torch.Tensor, *, old_policy: bool) -> torch.Tensor:
    """Return the loss of Shao et al. 2024, equation 3, of one group of completions.

    `reference` None: without a divergence. `old_policy`: its log-probabilities are computed by the trainer.
    """
    rewards = torch.arange(float(len(tokens)))
    advantages = (rewards - rewards.mean()) / rewards.std()
    mine = log_probabilities(model, tokens)
    old = without_gradients(model, tokens) if old_policy else mine.detach()
    ratio = torch.exp(mine - old)
    loss = -torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    if reference is None:
        return loss
    apart = without_gradients(reference, tokens) - mine
    return loss + 0.04 * (torch.exp(apart) - apart - 1).mean()
