"""Networks of depthwise convolutions, operator by operator: MobileNet, MNASNet, EfficientNet, ConvNeXt."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from planner.model.network.image_network import ImageNetwork
from planner.network.image_blocks import (
    COLOURS,
    PATCH,
    Operator,
    activation,
    add,
    classifier,
    convolution,
    convolved,
    depthwise,
    half,
    layer_norm,
    mean,
    mlp,
    norm,
    patch_embedding,
    squeeze,
)

EIGHT = 8
KEPT = 0.9
"""Smallest share of the channels after rounding to a multiple of eight (Sandler et al. 2018)."""
STAGE = re.compile(r"(ir|er|ds|cn)_r(\d+)_k(\d+)_s(\d)(?:_e([\d.]+))?_c(\d+)(?:_se([\d.]+))?")
CONVNEXT_KERNEL, CONVNEXT_MLP = 7, 4


class Stage(NamedTuple):
    """Equal blocks; the first one has the stride."""

    kind: str
    blocks: int
    kernel: int
    stride: int
    widening: float
    channels: int
    squeezed: float
    """Share of the channels to which a squeeze narrows; 0 for none."""


def rounded(channels: float) -> int:
    """Round to a multiple of eight, never below nine tenths."""
    near = max(EIGHT, int(channels + EIGHT / 2) // EIGHT * EIGHT)
    return near if near >= KEPT * channels else near + EIGHT


def stage_of(text: str, *, width: float, depth: float) -> Stage:
    """Read `ir_r2_k3_s2_e6_c24_se0.25`. Channels grow by `width`, blocks by `depth`."""
    stage = STAGE.fullmatch(text)
    if stage is None:
        raise ValueError(f"{text!r} is not a stage; write it like ir_r2_k3_s2_e6_c24_se0.25")
    kind, blocks, kernel, stride, widening, channels, squeezed = stage.groups()
    return Stage(
        kind, math.ceil(int(blocks) * depth), int(kernel), int(stride), float(widening or 1),
        rounded(int(channels) * width), float(squeezed or 0),
    )  # fmt: skip


def mobile(network: ImageNetwork) -> Iterator[Operator]:
    """Yield a 3x3 stem that halves, stages, the head's 1x1 convolution, mean, classifier."""
    width, size = network.width_multiplier, half(network.image_size)
    channels, head = rounded((network.stem or 0) * width), rounded((network.head or 0) * width)
    yield from convolved(COLOURS, channels, 3, network.image_size, size, first=True)
    for text in network.stages:
        stage = stage_of(text, width=width, depth=network.depth_multiplier)
        for number in range(stage.blocks):
            before, size = size, half(size, stage.stride if number == 0 else 1)
            yield from _block(stage, channels, before, size, wide_squeeze=network.wide_squeeze)
            channels = stage.channels
    if network.pooled_head:
        yield mean(channels, size)
        yield classifier(channels, head)
        yield activation(head, 1)
    else:
        yield from convolved(channels, head, 1, size, size)
        yield mean(head, size)
    yield classifier(head, network.classes)


def _block(stage: Stage, inputs: int, before: int, size: int, *, wide_squeeze: bool) -> Iterator[Operator]:
    """Yield the operators that widen, convolve every channel, squeeze and narrow, and the sum if the shape stays."""
    wide, outputs = rounded(inputs * stage.widening), stage.channels
    if stage.kind == "cn":
        yield from convolved(inputs, outputs, stage.kernel, before, size)
    else:
        if stage.kind == "er":
            yield convolution(inputs, wide, stage.kernel, before, size)
        else:
            if wide != inputs:
                yield from convolved(inputs, wide, 1, before, before)
            yield depthwise(wide, stage.kernel, before, size)
        yield norm(wide, size)
        yield activation(wide, size)
        if stage.squeezed:
            narrow = rounded(wide * stage.squeezed) if wide_squeeze else int(inputs * stage.squeezed)
            yield from squeeze(wide, size, narrow)
        yield convolution(wide, outputs, 1, size, size)
        yield norm(outputs, size)
    if inputs == outputs and before == size:
        yield add(outputs, size)


def convnext(network: ImageNetwork) -> Iterator[Operator]:
    """Yield patches of 4x4 pixels, stages of doubling width and halving size, mean, norm, classifier.

    The sum of the blocks is fp32 under automatic mixed precision. Each convolution reads a copy of it.
    """
    size, d = half(network.image_size, PATCH), network.width or 0
    yield from patch_embedding(d, network.image_size)
    for stage, count in enumerate(network.blocks):
        if stage > 0:
            yield layer_norm(size**2, d)
            yield convolution(d, 2 * d, 2, size, size // 2, bias=True)
            size, d = size // 2, 2 * d
        for _ in range(count):
            numbers = d * size**2
            yield Operator("pointwise", forward=1.5 * numbers, backward=1.5 * numbers, wide=True)  # the copy
            yield depthwise(d, CONVNEXT_KERNEL, size, size, bias=True)
            yield layer_norm(size**2, d)
            yield from mlp(size**2, d, CONVNEXT_MLP * d)
            yield Operator("pointwise", weights=d, forward=1.5 * numbers, backward=3.5 * numbers, wide=True)  # scaled
            yield Operator("pointwise", forward=3 * numbers, backward=3 * numbers, wide=True)  # the sum
    yield mean(d, size)
    yield layer_norm(1, d)
    yield classifier(d, network.classes)
