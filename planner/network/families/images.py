"""Image families: operators one by one, and no experts; residual networks and vision transformers."""

from __future__ import annotations

from functools import cached_property
from typing import Generic, TypeVar

from planner.model.network.architecture import Architecture
from planner.model.network.image_architecture import Resnet, Vit
from planner.model.plan.plan import FlopsConvention
from planner.network.families.family import SavedBlocks, StepPasses
from planner.network.image_blocks import COLOURS, Operator
from planner.network.image_operators import operators_of, training_macs, weights_of
from planner.network.layer_kind import LayerKind

Image = TypeVar("Image", Resnet, Vit)


class ImageFamily(Generic[Image]):
    """A network on images. The conventions of FLOPs differ only in causal attention, which images do not have."""

    def __init__(self, network: Image) -> None:
        self.network: Image = network

    def operators(self) -> tuple[Operator, ...]:
        """List the operators of one image's forward pass."""
        return operators_of(self.network)

    @cached_property
    def _weights(self) -> int:
        return int(weights_of(self.operators()))

    def parameters(self) -> int:
        """Count every trained parameter: 25,557,032 of ResNet-50, 86,567,656 of ViT-B/16, as torchvision publishes."""
        return self._weights

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
        """Return the training FLOPs of one image, forward and backward, without recomputation.

        A multiply-accumulate is two FLOPs. Attention is not causal: every pair counts. Leaves out norms, activations
        and pooling, under 1 %. There is one figure for all conventions.
        """
        return self._training_flops

    @cached_property
    def _training_flops(self) -> float:
        return 2.0 * training_macs(self.operators())

    def with_experts_of(self, devices: int) -> Architecture:
        """Return the network: it has no experts."""
        return self.network


class ResnetFamily(ImageFamily[Resnet]):
    """Counts of a residual network."""

    layers: tuple[LayerKind, ...] = ()

    @cached_property
    def saved_blocks(self) -> SavedBlocks:
        """Saved numbers of one image, block by block.

        For a block: its input, and all that it saves: the outputs of its convolutions, from which the batch norms start
        again, and of its three ReLUs. For the stem: the image, the convolution's output, the ReLU's, the pooling's.
        """
        convolutions = [operator for operator in self.operators() if operator.kind == "convolution"]
        outputs, pooled = [int(convolution.outputs) for convolution in convolutions], int(convolutions[1].inputs)
        blocks, at, size = [], 1, pooled
        for blocks_of_stage in self.network.blocks:
            for number in range(blocks_of_stage):
                reduce, spatial, expand = outputs[at : at + 3]
                shortcut = expand if number == 0 else 0
                blocks.append((size, 2 * reduce + 2 * spatial + expand + shortcut + expand))
                at, size = at + (4 if number == 0 else 3), expand
        stem = COLOURS * self.network.image_size**2 + 2 * outputs[0] + pooled
        return SavedBlocks(stem, pooled, tuple(blocks))

    def tokens(self, seq_len: int | None) -> int:
        """Return 1: an image is not cut into tokens."""
        return 1

    def gathered(self) -> Architecture:
        """Return the whole network, because it is small."""
        return self.network


class VitFamily(ImageFamily[Vit]):
    """Counts of a vision transformer. Attention that is not causal saves as much as causal attention."""

    saved_blocks: SavedBlocks | None = None

    @cached_property
    def layers(self) -> tuple[LayerKind, ...]:
        """Layers of a single kind."""
        network = self.network
        return (
            LayerKind(
                layers=network.layers,
                hidden=network.hidden,
                heads=network.heads,
                kv_heads=network.heads,
                head_dim=network.hidden // network.heads,
                mlp="gelu",
                norm="layernorm",
                qk_norm=False,
                rotates=False,
                is_causal=False,
                ffn_hidden=network.ffn_hidden,
            ),
        )

    def tokens(self, seq_len: int | None) -> int:
        """Return the patches of an image and the class token."""
        return self.network.tokens

    def gathered(self) -> Architecture:
        """Return the same network with its first two layers."""
        return self.network.of_largest_layers(min(2, self.network.layers))
