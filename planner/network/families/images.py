"""Common part of all image families: operators one by one, and no experts."""

from __future__ import annotations

from typing import Generic, TypeVar

from planner.model.network.architecture import Architecture, Resnet, Vit
from planner.model.plan.plan import FlopsConvention
from planner.network.families.family import StepPasses
from planner.network.image_blocks import Operator
from planner.network.image_flops import image_parameters, image_training_flops
from planner.network.image_operators import operators_of

Image = TypeVar("Image", Resnet, Vit)


class ImageFamily(Generic[Image]):
    """A network on images. The conventions of FLOPs differ only in causal attention, which images do not have."""

    def __init__(self, network: Image) -> None:
        self.network: Image = network

    def operators(self) -> tuple[Operator, ...]:
        """List the operators of one image's forward pass."""
        return operators_of(self.network)

    def parameters(self) -> int:
        """Count every trained parameter."""
        return image_parameters(self.network)

    def active_parameters(self) -> int:
        """Count the parameters: an image uses all of them."""
        return self.parameters()

    def routed_parameters(self) -> int:
        """Return 0: there are no experts."""
        return 0

    def matmul_parameters(self) -> int:
        """Count the parameters: all but norms and biases are in products."""
        return self.parameters()

    def layer_maps(self) -> int:
        """Return 0: no weights are kept at 8 or 4 bits."""
        return 0

    def cast_weights(self) -> int:
        """Count the parameters, all of which are copied at 16 bit."""
        return self.parameters()

    def flops_per_sample(self, *, seq_len: float | None, convention: FlopsConvention, passes: StepPasses) -> float:
        """Return the FLOPs of one image; there is one figure."""
        return image_training_flops(self.network)

    def with_experts_of(self, devices: int) -> Architecture:
        """Return the network: it has no experts."""
        return self.network
