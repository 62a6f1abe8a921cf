"""The interface of every strategy: takes a model on the meta device, and runs optimizer steps on it.

The training loop (loop.py) is the only one; a strategy has no loop, no clock, and does not decide when to stop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Iterable, List, NamedTuple, Sequence

import torch
from torch import Tensor

from workloads.contract.spec import Spec
from workloads.inputs.tokens import Batch
from workloads.models.base import Model
from workloads.strategies.precision import Precision

LEARNING_RATE = 3e-4
BETAS = (0.9, 0.95)
WEIGHT_DECAY = 0.1


class StateTensors(NamedTuple):
    """The tensors this rank holds between two steps; of a sharded tensor only the part that lies here."""

    parameters: Sequence[Tensor]
    gradients: Sequence[Tensor]
    optimizer: Sequence[Tensor]


class Strategy(ABC):
    """One way to spread a training step over the ranks of an initialised process group."""

    @abstractmethod
    def __init__(self, model: Model, spec: Spec, precision: Precision, device: torch.device) -> None:
        """Give the meta model memory and weights on the device, wrap it, and make the optimizer."""

    @abstractmethod
    def backward(self, micro_batches: Sequence[Batch]) -> Tensor:
        """Run forward and backward over this rank's micro-batches; the gradients are then ready for `update`.

        Returns this rank's mean loss, detached and still on the device: reading it here would make the host wait
        for the device in every step.
        """

    @abstractmethod
    def update(self) -> None:
        """Let the optimizer take its step and drop the gradients."""

    @abstractmethod
    def state_tensors(self) -> StateTensors:
        """Return what this rank holds now: gradients exist between `backward` and `update`."""

    def step(self, micro_batches: Sequence[Batch]) -> Tensor:
        """Run one optimizer step; returns the loss as `backward` does."""
        loss = self.backward(micro_batches)
        self.update()
        return loss


def adamw(model: torch.nn.Module, device: torch.device) -> torch.optim.Optimizer:
    """AdamW over what is trained; fused on CUDA, where the unfused loop would measure kernel launches."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return torch.optim.AdamW(
        trained, lr=LEARNING_RATE, betas=BETAS, weight_decay=WEIGHT_DECAY, fused=device.type == "cuda"
    )


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> List[Tensor]:
    """Return the optimizer's own tensors, such as Adam's two moments; step counters are not worth counting."""
    values = (value for state in optimizer.state.values() for value in state.values())
    return [value for value in values if isinstance(value, Tensor) and value.dim() > 0]


def gradients_of(parameters: Iterable[Tensor]) -> List[Tensor]:
    """Return the gradients that exist now."""
    return [parameter.grad for parameter in parameters if parameter.grad is not None]
