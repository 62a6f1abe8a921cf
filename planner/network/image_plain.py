"""Networks of ordinary convolutions, operator by operator: ResNet and relatives, RegNet, VGG, DenseNet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from planner.model.network.image_network import ImageNetwork
from planner.network.image_blocks import (
    COLOURS,
    Operator,
    activation,
    add,
    classifier,
    convolution,
    convolved,
    half,
    mean,
    norm,
    pool,
    squeeze,
)

EXPANSION = 4
"""Output width of a bottleneck block relative to its 3x3 convolution (He et al. 2015)."""
SQUEEZED = 16
"""Factor by which squeeze-and-excitation narrows its vector (Hu et al. 2017)."""
SQUEEZED_OF_INPUT = 4
"""Factor by which RegNetY narrows it, relative to the block's input (Radosavovic et al. 2020)."""
HIDDEN_OF_VGG = 4096
NARROWED = 4
"""Width of DenseNet's 1x1 convolution before each 3x3, in multiples of the new channels (Huang et al. 2016)."""


class Stages(NamedTuple):
    """Middle part of a residual network. `inner` is the width of the first stage's 3x3 convolutions."""

    blocks: tuple[int, ...]
    width: int
    inner: int | None = None
    groups: int = 1
    bottleneck: bool = True
    squeeze: bool = False


def resnet(stages: Stages, *, image_size: int, classes: int) -> Iterator[Operator]:
    """Yield a 7x7 stem with pooling, stages of doubling width and halving size, mean, classifier."""
    size, channels = half(half(image_size)), stages.width
    yield from _stem(channels, image_size)
    for stage, blocks in enumerate(stages.blocks):
        for number in range(blocks):
            before = size
            if stage > 0 and number == 0:
                size = half(size)
            yield from _block(stages, stage, channels, before, size)
            channels = stages.width * 2**stage * (EXPANSION if stages.bottleneck else 1)
    yield mean(channels, size)
    yield classifier(channels, classes)


def published_resnet(network: ImageNetwork) -> Iterator[Operator]:
    """Yield the operators of a ResNet or one of its relatives."""
    inner = network.groups * network.group_width if network.group_width else None
    bottleneck = network.block == "bottleneck"
    stages = Stages(network.blocks, network.width or 0, inner, network.groups, bottleneck, network.squeeze)
    return resnet(stages, image_size=network.image_size, classes=network.classes)


def _stem(channels: int, image_size: int) -> Iterator[Operator]:
    """Yield a 7x7 convolution and a pooling, each of which halves the image."""
    size = half(image_size)
    yield from convolved(COLOURS, channels, 7, image_size, size, first=True)
    yield pool(channels, size, half(size))


def _block(stages: Stages, stage: int, inputs: int, before: int, size: int) -> Iterator[Operator]:
    """Yield convolutions with norm and ReLU, the shortcut, their sum, and a last ReLU. The 3x3 convolution strides."""
    width = stages.width * 2**stage
    inner = (stages.inner or stages.width) * 2**stage
    outputs = width * (EXPANSION if stages.bottleneck else 1)
    if stages.bottleneck:
        steps = [
            convolution(inputs, inner, 1, before, before),
            convolution(inner, inner, 3, before, size, groups=stages.groups),
            convolution(inner, outputs, 1, size, size),
        ]
        after = [(inner, before), (inner, size), (outputs, size)]
    else:
        steps = [convolution(inputs, outputs, 3, before, size), convolution(outputs, outputs, 3, size, size)]
        after = [(outputs, size), (outputs, size)]
    for place, (step, shape) in enumerate(zip(steps, after, strict=True)):
        yield step
        yield norm(*shape)
        if place < len(steps) - 1:
            yield activation(*shape)
    if stages.squeeze:
        yield from squeeze(outputs, size, outputs // SQUEEZED)
    yield from _shortcut(inputs, outputs, before, size)


def _shortcut(inputs: int, outputs: int, before: int, size: int) -> Iterator[Operator]:
    """Yield a 1x1 convolution if the shape changes, the sum, and a ReLU."""
    if inputs != outputs or before != size:
        yield convolution(inputs, outputs, 1, before, size)
        yield norm(outputs, size)
    yield add(outputs, size)
    yield activation(outputs, size)


def regnet(network: ImageNetwork) -> Iterator[Operator]:
    """Yield a RegNetY: every stage halves; 1x1, 3x3 in groups, squeeze, 1x1, all of the stage's width."""
    inputs, group_width = network.stem or 0, network.group_width or 1
    before, size = network.image_size, half(network.image_size)
    yield from convolved(COLOURS, inputs, 3, before, size, first=True)
    for count, width in zip(network.blocks, network.widths, strict=True):
        for number in range(count):
            before, size = size, half(size) if number == 0 else size
            yield from convolved(inputs, width, 1, before, before)
            yield from convolved(width, width, 3, before, size, groups=width // group_width)
            yield from squeeze(width, size, round(inputs / SQUEEZED_OF_INPUT))
            yield convolution(width, width, 1, size, size)
            yield norm(width, size)
            yield from _shortcut(inputs, width, before, size)
            inputs = width
    yield mean(inputs, size)
    yield classifier(inputs, network.classes)


def vgg(network: ImageNetwork) -> Iterator[Operator]:
    """Yield 3x3 convolutions with bias, pooling after each stage, three linear maps."""
    size, channels, first = network.image_size, COLOURS, True
    for stage, count in enumerate(network.blocks):
        width = min(64 * 2**stage, 512)
        for _ in range(count):
            yield convolution(channels, width, 3, size, size, first=first, bias=True)
            if network.norm:
                yield norm(width, size)
            yield activation(width, size)
            channels, first = width, False
        yield pool(width, size, size // 2)
        size //= 2
    for inputs, outputs in ((channels * size**2, HIDDEN_OF_VGG), (HIDDEN_OF_VGG, HIDDEN_OF_VGG)):
        yield classifier(inputs, outputs)
        yield Operator("pointwise", forward=4 * outputs, backward=5 * outputs)
    yield classifier(HIDDEN_OF_VGG, network.classes)


def densenet(network: ImageNetwork) -> Iterator[Operator]:
    """Yield layers that read all channels before them: norm, ReLU, 1x1, norm, ReLU, 3x3, and join their own to them."""
    growth = network.width or 0
    channels, size = 2 * growth, half(half(network.image_size))
    yield from _stem(channels, network.image_size)
    for stage, layers in enumerate(network.blocks):
        for _ in range(layers):
            inner = NARROWED * growth
            yield norm(channels, size)
            yield activation(channels, size)
            yield convolution(channels, inner, 1, size, size)
            yield norm(inner, size)
            yield activation(inner, size)
            yield convolution(inner, growth, 3, size, size)
            joined = (channels + growth) * size**2
            yield Operator("pointwise", forward=2 * joined, backward=3 * joined)
            channels += growth
        if stage < len(network.blocks) - 1:
            yield norm(channels, size)
            yield activation(channels, size)
            yield convolution(channels, channels // 2, 1, size, size)
            channels, before, size = channels // 2, size, size // 2
            yield Operator("pointwise", forward=channels * (before**2 + size**2), backward=channels * 2 * before**2)
    yield norm(channels, size)
    yield activation(channels, size)
    yield classifier(channels, network.classes)
