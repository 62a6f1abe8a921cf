"""Second method for the sizes of image networks: closed formulas instead of the list of operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.model.network.image_architecture import Resnet, Vit
from planner.network.image_blocks import COLOURS
from planner.network.image_plain import EXPANSION


@dataclass(frozen=True)
class Convolution:
    """One convolution with square kernel and output, without bias."""

    inputs: int
    outputs: int
    kernel: int
    output_size: int
    """Pixels on a side."""

    @property
    def weights(self) -> int:
        """Weights: inputs x outputs x kernel^2."""
        return self.inputs * self.outputs * self.kernel**2

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the forward pass: weights x output pixels."""
        return self.weights * self.output_size**2


def image_parameters(architecture: Resnet | Vit) -> int:
    """Count every trained parameter, by closed formulas."""
    if isinstance(architecture, Resnet):
        convolutions = list(resnet_convolutions(architecture))
        classifier = (convolutions[-1].outputs + 1) * architecture.classes
        return sum(convolution.weights + 2 * convolution.outputs for convolution in convolutions) + classifier
    d, ffn = architecture.hidden, architecture.ffn_hidden
    attention, mlp, norms = 4 * d * (d + 1), d * ffn + ffn + ffn * d + d, 2 * 2 * d
    patches = COLOURS * architecture.patch_size**2 * d + d
    embeddings = d + architecture.tokens * d
    classifier = (d + 1) * architecture.classes
    return patches + embeddings + architecture.layers * (attention + mlp + norms) + 2 * d + classifier


def image_training_flops(architecture: Resnet | Vit) -> float:
    """Return 2 x (3 x MACs - MACs of the first layer), as the image needs no gradient."""
    first, macs = image_macs(architecture)
    return 2.0 * (3 * macs - first)


def image_macs(architecture: Resnet | Vit) -> tuple[int, int]:
    """Return the multiply-accumulates of one image's forward pass: of the first layer, and of all matrix products."""
    if isinstance(architecture, Resnet):
        convolutions = list(resnet_convolutions(architecture))
        classifier = convolutions[-1].outputs * architecture.classes
        return convolutions[0].macs, sum(convolution.macs for convolution in convolutions) + classifier
    d, tokens = architecture.hidden, architecture.tokens
    patches = (tokens - 1) * COLOURS * architecture.patch_size**2 * d
    block = tokens * (4 * d * d + 2 * d * architecture.ffn_hidden) + 2 * tokens**2 * d
    return patches, patches + architecture.layers * block + d * architecture.classes


def resnet_convolutions(resnet: Resnet) -> Iterator[Convolution]:
    """List the convolutions in the order of the forward pass. A block's shortcut comes after its own three.

    Strides halve the size, rounded up: in the stem's convolution and pooling, and in the 3x3 convolution and the
    shortcut of the first block of every stage but the first.
    """
    size = _half(resnet.image_size)
    yield Convolution(COLOURS, resnet.width, 7, size)
    size = _half(size)
    inputs = resnet.width
    for stage, blocks in enumerate(resnet.blocks):
        width = resnet.width * 2**stage
        for block in range(blocks):
            before = size
            if stage > 0 and block == 0:
                size = _half(size)
            yield Convolution(inputs, width, 1, before)
            yield Convolution(width, width, 3, size)
            yield Convolution(width, EXPANSION * width, 1, size)
            if block == 0:
                yield Convolution(inputs, EXPANSION * width, 1, size)
            inputs = EXPANSION * width


def _half(size: int) -> int:
    return (size + 1) // 2
