"""Interface of every model: built on the meta device, filled with weights, returns the loss of a batch.

It is built on the meta device (shapes only) and filled by `init_weights`. So a sharding strategy can split it before
any memory is used, and parameters can be counted without a node. Plain torch, one file per kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Callable

import torch
from torch import Tensor, nn

Place = Callable[[Tensor, Tensor], object]
Draw = Callable[[Tensor, float], None]

NO_TARGET = -100  # torch's mark of a position without a target, such as padding


class Model(nn.Module, ABC):
    """Network in training.

    `blocks` are its repeated parts: strategies shard them, and torch compiles them, one by one.
    """

    blocks: nn.ModuleList

    @abstractmethod
    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean cross-entropy in nats over positions with a target."""

    @abstractmethod
    def compile_parts(self) -> None:
        """Compile the repeated parts. What a strategy does between blocks stays outside."""

    @abstractmethod
    def fill(self, name: str, module: nn.Module, draw: Draw) -> None:
        """Give one module its own weights (not its children's): `draw(weight, std)`, or a constant in place."""

    def init_weights(self, seed: int, place: Place = Tensor.copy_) -> None:
        """Fill every weight and table. The same seed on the same kind of device gives the same model.

        Weights are drawn whole, in fp32, one after the other, and handed to `place(parameter, values)`. So a sharded or
        rounded model is the same model, and no device needs room for more than one weight beside its own share.
        Adapters are drawn last: the frozen model is the one that full training starts from.
        """
        device = next(self.parameters()).device
        generator = torch.Generator(device=device).manual_seed(seed)

        def draw(weight: Tensor, std: float) -> None:
            values = torch.empty(weight.shape, dtype=torch.float32, device=device)
            place(weight, values.normal_(0.0, std, generator=generator))

        named = [(name, module) for name, module in self.named_modules() if name]
        with torch.no_grad():
            for name, module in sorted(named, key=lambda item: ".adapter_" in item[0]):
                self.fill(name, module, draw)
                bias = getattr(module, "bias", None)
                if isinstance(bias, Tensor):
                    bias.zero_()
        self.make_tables(device)

    def make_tables(self, device: torch.device) -> None:
        """Make constant tables; most models have none."""
