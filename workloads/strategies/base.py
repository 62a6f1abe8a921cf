"""Knows what every strategy must do: take a model on the meta device, and run optimizer steps on it.

The training loop (loop.py) is the only one; a strategy has no loop, no clock and no opinion on when to stop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Sequence

import torch
from torch import Tensor

from workloads.data import Batch
from workloads.models import Decoder
from workloads.precision import Precision
from workloads.spec import Spec

LEARNING_RATE = 3e-4
BETAS = (0.9, 0.95)
WEIGHT_DECAY = 0.1


class Strategy(ABC):
    """One way to spread a training step over the ranks of an initialised process group."""

    @abstractmethod
    def __init__(self, model: Decoder, spec: Spec, precision: Precision, device: torch.device) -> None:
        """Give the meta model memory and weights on the device, wrap it, and make the optimizer."""

    @abstractmethod
    def step(self, micro_batches: Sequence[Batch]) -> Tensor:
        """Run one optimizer step over this rank's micro-batches.

        Returns this rank's mean loss, detached and still on the device: reading it here would make the host wait
        for the device in every step.
        """


def adamw(model: torch.nn.Module, device: torch.device) -> torch.optim.Optimizer:
    """AdamW over all parameters; fused on CUDA, where the unfused loop would measure kernel launches."""
    return torch.optim.AdamW(
        model.parameters(), lr=LEARNING_RATE, betas=BETAS, weight_decay=WEIGHT_DECAY, fused=device.type == "cuda"
    )
