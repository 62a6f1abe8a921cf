"""Low-rank adaptation: frozen weights, and two small trained matrices beside each target (Hu et al. 2021)."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own habit)
from torch import Tensor, nn

from ..contract.spec import Lora


class AdapterHalf(nn.Linear):
    """Linear map in its input's type: at 16 bit beside 16-bit weights, whatever its own weight's type."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the product."""
        return F.linear(input, self.weight.to(input.dtype))


class LoraLinear(nn.Linear):
    """Linear map x W^T + bias + (alpha / rank) (x A^T) B^T, with W and the bias frozen.

    A starts random and B at zero, so the first step is that of the model without adapters.
    """

    def __init__(self, inputs: int, outputs: int, *, bias: bool, lora: Lora) -> None:
        super().__init__(inputs, outputs, bias=bias)
        self.adapter_down = AdapterHalf(inputs, lora.rank, bias=False)
        self.adapter_up = AdapterHalf(lora.rank, outputs, bias=False)
        self.scale = lora.alpha / lora.rank

    def forward(self, input: Tensor) -> Tensor:
        """Return the frozen map plus the adapter's part."""
        adapted: Tensor = self.adapter_up(self.adapter_down(input))
        return F.linear(input, self.weight, self.bias) + self.scale * adapted


def freeze_all_but_adapters(model: nn.Module) -> None:
    """Disable the gradient of every weight that is not an adapter's. Autograd then skips its weight gradient."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(".adapter_" in name)


def narrow_frozen(model: nn.Module, low_type: torch.dtype) -> None:
    """Keep frozen weights in this type; for a model on the meta device, before it has memory."""
    for parameter in model.parameters():
        if not parameter.requires_grad:
            parameter.data = parameter.data.to(low_type)


def is_zero_at_start(module_name: str) -> bool:
    """Return whether this linear map is the half of an adapter that starts at zero."""
    return module_name.endswith(".adapter_up")
