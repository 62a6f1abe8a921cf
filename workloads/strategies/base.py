"""Interface of every strategy: takes a model on the meta device, and runs optimizer steps on it.

The training loop (loop.py) is the only one. A strategy has no loop, no clock, and does not decide when to stop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Iterable, List, NamedTuple, Sequence

import torch
from torch import Tensor

from ..contract.architecture import Architecture, width
from ..contract.spec import Spec
from ..inputs.tokens import Batch
from ..models.base import Model
from ..strategies.precision import PrecisionContexts

LEARNING_RATE = 3e-4
REFERENCE_WIDTH = 1024
WARMUP_UPDATES = 10
BETAS = (0.9, 0.95)
WEIGHT_DECAY = 0.1


class StateTensors(NamedTuple):
    """Tensors this rank holds between two steps; for a sharded tensor only the local part."""

    parameters: Sequence[Tensor]
    gradients: Sequence[Tensor]
    optimizer: Sequence[Tensor]


class TrainingStrategy(ABC):
    """A way to spread a training step over the ranks of an initialised process group."""

    adamw: torch.optim.Optimizer
    """Optimizer that `adamw` made, also if a library wraps it. Set by `__init__`."""
    _updates = 0

    @abstractmethod
    def __init__(self, model: Model, spec: Spec, precision: PrecisionContexts, device: torch.device) -> None:
        """Give the meta model memory and weights on the device, wrap it, and make the optimizer."""

    @abstractmethod
    def backward(self, micro_batches: Sequence[Batch]) -> Tensor:
        """Run forward and backward over this rank's micro-batches. The gradients are then ready for `update`.

        Returns this rank's mean loss, detached and still on the device: reading it here would make the host wait for
        the device in every step.
        """

    @abstractmethod
    def apply_gradients(self) -> None:
        """Let the optimizer take its step and drop the gradients."""

    @abstractmethod
    def state_tensors(self) -> StateTensors:
        """Return what this rank holds now. Gradients exist between `backward` and `update`."""

    def update(self) -> None:
        """Apply the gradients at the learning rate of this update."""
        self._updates += 1
        self._apply_at(self.adamw.defaults["lr"] * warmup_factor(self._updates))

    def update_without_effect(self) -> None:
        """Apply the gradients at learning rate 0, and set the optimizer's states back to zero.

        All libraries run their whole step, so that its operators and memory can be seen. Training then starts as if
        this step had not happened.
        """
        self._apply_at(0.0)
        for state in self.adamw.state.values():
            for value in state.values():
                if isinstance(value, Tensor):
                    value.zero_()

    def _apply_at(self, learning_rate: float) -> None:
        for group in self.adamw.param_groups:
            group["lr"] = learning_rate
        self.apply_gradients()

    def step(self, micro_batches: Sequence[Batch]) -> Tensor:
        """Run one optimizer step. Return the loss as `backward` does."""
        loss = self.backward(micro_batches)
        self.update()
        return loss


def peak_learning_rate(architecture: Architecture) -> float:
    """Return the learning rate after warm-up: 3e-4 x min(1, 1024 / width).

    Adam's rate falls as 1 / width so that the outputs of a layer change by the same amount at every width (Yang et al.
    2022, Tensor Programs V, table 3). 3e-4 at width 1,024 is the rate of GPT-3 350M (Brown et al. 2020, table 2.1).
    """
    return LEARNING_RATE * min(1.0, REFERENCE_WIDTH / width(architecture))


def warmup_factor(update: int) -> float:
    """Return the share of the peak learning rate in an update, numbered from 1: linear over ten updates."""
    return min(1.0, update / WARMUP_UPDATES)


def adamw(model: torch.nn.Module, spec: Spec, device: torch.device) -> torch.optim.Optimizer:
    """Return AdamW over the trained weights.

    It is fused on CUDA, where the unfused loop would measure kernel launches.
    """
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return torch.optim.AdamW(
        trained,
        lr=peak_learning_rate(spec.architecture),
        betas=BETAS,
        weight_decay=WEIGHT_DECAY,
        fused=device.type == "cuda",
    )


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> List[Tensor]:
    """Return the optimizer's own tensors, such as Adam's two moments, without step counters."""
    values = (value for state in optimizer.state.values() for value in state.values())
    return [value for value in values if isinstance(value, Tensor) and value.dim() > 0]


def gradients_of(parameters: Iterable[Tensor]) -> List[Tensor]:
    """Return the gradients that exist now."""
    return [parameter.grad for parameter in parameters if parameter.grad is not None]
