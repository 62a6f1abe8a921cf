"""Number of parameters of an image model, and FLOPs of one image of training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from planner.model.network.image_architecture import Resnet, Vit

COLOURS = 3
EXPANSION = 4
"""Output width of a bottleneck block relative to its 3x3 convolution (He et al. 2015)."""


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


@lru_cache(maxsize=64)
def image_parameters(architecture: Resnet | Vit) -> int:
    """Count every trained parameter.

    resnet: convolutions, two per channel for the batch norm after each, and the classifier with its bias
    vit: patch projection, class token, positions, blocks, final norm, classifier; every linear map has a bias

    Source: counted from the module; equals torch's own count (tests/workloads) and torchvision's published figures,
    25,557,032 for ResNet-50 and 86,567,656 for ViT-B/16.
    """
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
    """Return the training FLOPs of one image, forward and backward, without recomputation.

    FLOPs = 2 x (3 x MACs - MACs of the first layer)

    A multiply-accumulate is two FLOPs. The backward pass costs the forward pass twice, for the gradients of weights and
    of inputs, but the gradient of the image is not needed. Attention is not causal: every pair counts. Leaves out
    norms, activations and pooling, under 1 %.
    """
    first, macs = image_macs(architecture)
    return 2.0 * (3 * macs - first)


@lru_cache(maxsize=64)
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


@lru_cache(maxsize=64)
def resnet_activations(resnet: Resnet) -> tuple[int, int, tuple[tuple[int, int], ...]]:
    """Count the numbers that one image saves for the backward pass: in the stem, the pooling's places, and each block.

    For a block: (its input, all that it saves): the outputs of its convolutions, from which the batch norms start
    again, and of its three ReLUs. For the stem: the image, the convolution's output, the ReLU's, the pooling's.
    """
    convolutions = list(resnet_convolutions(resnet))
    outputs = [convolution.outputs * convolution.output_size**2 for convolution in convolutions]
    pooled = convolutions[0].outputs * _half(convolutions[0].output_size) ** 2
    stem = COLOURS * resnet.image_size**2 + 2 * outputs[0] + pooled
    blocks, at, size = [], 1, pooled
    for blocks_of_stage in resnet.blocks:
        for number in range(blocks_of_stage):
            reduce, spatial, expand = outputs[at : at + 3]
            shortcut = expand if number == 0 else 0
            blocks.append((size, 2 * reduce + 2 * spatial + expand + shortcut + expand))
            at, size = at + (4 if number == 0 else 3), expand
    return stem, pooled, tuple(blocks)


def _half(size: int) -> int:
    return (size + 1) // 2
