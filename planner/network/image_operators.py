"""Operators of an image network, one by one: multiply-accumulates and numbers moved for one image."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from planner.model.network.image_architecture import Resnet, Vit
from planner.model.network.image_network import ImageNetwork
from planner.network.image_blocks import (
    Operator,
    classifier,
    convolution,
    half,
    layer_norm,
    linear,
    mean,
    mlp,
    residual,
)
from planner.network.image_branches import branches
from planner.network.image_depthwise import Mobile, convnext, mobile, rounded, stage_of
from planner.network.image_flops import COLOURS
from planner.network.image_plain import Stages, densenet, regnet, resnet, vgg

PATCH, SWIN_MLP = 4, 4
POSITION_HIDDEN = 512
"""Width of the small network with which Swin version 2 computes the bias of a place."""


def vit(network: Vit) -> Iterator[Operator]:
    """Yield patches, and per block two layer norms, three products into attention, one out of it, two of the MLP."""
    d, tokens = network.hidden, network.tokens
    fan_in = COLOURS * network.patch_size**2
    patches = tokens - 1
    weights = fan_in * d + d + d + tokens * d  # with bias, class token, positions
    yield Operator("convolution", fan_in * d * patches, fan_in * patches, d * patches, weights=weights, first=True)
    yield Operator("pointwise", forward=4 * tokens * d, backward=2 * tokens * d, wide=True)
    for _ in range(network.layers):
        yield layer_norm(tokens, d)
        yield linear(tokens, d, 3 * d)
        yield Operator("attention", 2 * tokens**2 * d, tokens * 3 * d, network.heads * tokens**2)
        yield Operator("pointwise", forward=8 * tokens * d, backward=8 * tokens * d)  # heads apart, and together
        yield linear(tokens, d, d)
        yield residual(tokens, d)
        yield layer_norm(tokens, d)
        yield from mlp(tokens, d, network.ffn_hidden)
        yield residual(tokens, d)
    yield layer_norm(tokens, d)
    yield classifier(d, network.classes)


def swin(
    blocks: tuple[int, ...], width: int, *, heads: int, window: int, cosine: bool, image_size: int, classes: int
) -> Iterator[Operator]:
    """Yield patches of 4x4 pixels, stages of doubling width and halving size, norm, mean, classifier."""
    size, d = half(image_size, PATCH), width
    yield convolution(COLOURS, d, PATCH, image_size, size, first=True, bias=True)
    yield layer_norm(size**2, d)
    for stage, count in enumerate(blocks):
        if stage > 0:
            yield Operator("pointwise", forward=2 * size**2 * d, backward=2 * size**2 * d)  # four patches joined
            size = half(size)
            yield layer_norm(size**2, 2 * d if cosine else 4 * d)
            yield linear(size**2, 4 * d, 2 * d, bias=False)
            d *= 2
        for number in range(count):
            yield from _swin_block(
                size, d, heads=heads * 2**stage, window=window, shifted=number % 2 == 1, cosine=cosine
            )
    yield layer_norm(size**2, d)
    yield mean(d, size)
    yield classifier(d, classes)


def _swin_block(size: int, d: int, *, heads: int, window: int, shifted: bool, cosine: bool) -> Iterator[Operator]:
    """Yield a layer norm, attention inside windows, a layer norm, an MLP.

    Every token attends to window^2 others: 2 x tokens x window^2 x width multiply-accumulates. The rim is padded to
    whole windows. A shift moves all tokens there and back; one window needs none.
    """
    padded = half(size, window) * window
    tokens, inside = size**2, padded**2
    bias = 3 * POSITION_HIDDEN + (POSITION_HIDDEN + 1) * heads if cosine else (2 * window - 1) ** 2 * heads
    yield layer_norm(tokens, d)
    moved = (2 + 2 * (shifted and padded > window)) * 2 * inside * d
    yield Operator("pointwise", forward=moved, backward=moved)  # into windows and back, shifted and back
    yield linear(inside, d, 3 * d)
    if cosine:
        yield Operator("pointwise", forward=6 * inside * d, backward=10 * inside * d)  # queries and keys to length one
    pairs = inside * window**2
    yield Operator("windows", 2 * pairs * d, inside * 3 * d, heads * pairs, weights=bias)
    yield Operator("pointwise", forward=8 * inside * d, backward=8 * inside * d)  # heads apart, and together
    yield linear(inside, d, d)
    yield residual(tokens, d)
    yield layer_norm(tokens, d)
    yield from mlp(tokens, d, SWIN_MLP * d)
    yield residual(tokens, d)


@cache
def operators_of(network: Resnet | Vit | ImageNetwork) -> tuple[Operator, ...]:
    """List the operators in the order of the forward pass."""
    if isinstance(network, Vit):
        return tuple(vit(network))
    if isinstance(network, Resnet):
        stages = Stages(network.blocks, network.width)
        return tuple(resnet(stages, image_size=network.image_size, classes=network.classes))
    return tuple(_published(network))


def training_macs(operators: tuple[Operator, ...]) -> float:
    """Return the multiply-accumulates of one image of training, forward and backward."""
    return sum(operator.macs * (2 if operator.first else 3) for operator in operators)


def weights_of(operators: tuple[Operator, ...]) -> float:
    """Return the number of trained parameters."""
    return sum(operator.weights for operator in operators)


def _published(network: ImageNetwork) -> Iterator[Operator]:
    size, classes, width = network.image_size, network.classes, network.width or 0
    match network.kind:
        case "resnet":
            yield from resnet(_stages(network), image_size=size, classes=classes)
        case "vgg":
            yield from vgg(network.blocks, normed=network.norm, image_size=size, classes=classes)
        case "densenet":
            yield from densenet(network.blocks, width, image_size=size, classes=classes)
        case "vit":
            yield from vit(Vit.model_validate(network.model_dump(include=set(Vit.model_fields))))
        case "mobile":
            yield from mobile(_mobile(network), image_size=size, classes=classes)
        case "regnet":
            yield from regnet(
                network.blocks, network.widths, group_width=network.group_width or 1, stem=network.stem or 0,
                image_size=size, classes=classes,
            )  # fmt: skip
        case "convnext":
            yield from convnext(network.blocks, width, image_size=size, classes=classes)
        case "swin":
            yield from swin(
                network.blocks, width, heads=network.heads or 1, window=network.window or 1, cosine=network.cosine,
                image_size=size, classes=classes,
            )  # fmt: skip
        case "branches":
            yield from branches(" ".join(network.stages), normed=network.norm, image_size=size, classes=classes)


def _stages(network: ImageNetwork) -> Stages:
    return Stages(
        network.blocks,
        network.width or 0,
        network.groups * network.group_width if network.group_width else None,
        network.groups,
        network.block == "bottleneck",
        network.squeeze,
    )


def _mobile(network: ImageNetwork) -> Mobile:
    width, depth = network.width_multiplier, network.depth_multiplier
    return Mobile(
        tuple(stage_of(stage, width=width, depth=depth) for stage in network.stages),
        rounded((network.stem or 0) * width),
        rounded((network.head or 0) * width),
        network.pooled_head,
        network.wide_squeeze,
    )
