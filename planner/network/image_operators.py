"""Operators of an image network, one by one: multiply-accumulates and numbers moved for one image."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from planner.model.network.image_architecture import Resnet, Vit
from planner.model.network.image_network import ImageNetwork
from planner.network.image_blocks import (
    COLOURS,
    PATCH,
    Operator,
    classifier,
    half,
    layer_norm,
    linear,
    mean,
    mlp,
    patch_embedding,
    residual,
)
from planner.network.image_branches import branches
from planner.network.image_depthwise import convnext, mobile
from planner.network.image_plain import Stages, densenet, published_resnet, regnet, resnet, vgg

SWIN_MLP = 4
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


def swin(network: ImageNetwork) -> Iterator[Operator]:
    """Yield patches of 4x4 pixels, stages of doubling width and halving size, norm, mean, classifier."""
    size, d, cosine = half(network.image_size, PATCH), network.width or 0, network.cosine
    heads, window = network.heads or 1, network.window or 1
    yield from patch_embedding(d, network.image_size)
    for stage, count in enumerate(network.blocks):
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
    yield classifier(d, network.classes)


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
    return tuple(PUBLISHED[network.kind](network))


def training_macs(operators: tuple[Operator, ...]) -> float:
    """Return the multiply-accumulates of one image of training, forward and backward."""
    return sum(operator.macs * (2 if operator.first else 3) for operator in operators)


def weights_of(operators: tuple[Operator, ...]) -> float:
    """Return the number of trained parameters."""
    return sum(operator.weights for operator in operators)


def _published_vit(network: ImageNetwork) -> Iterator[Operator]:
    return vit(Vit.model_validate(network.model_dump(include=set(Vit.model_fields))))


PUBLISHED: dict[str, Callable[[ImageNetwork], Iterator[Operator]]] = {
    "resnet": published_resnet,
    "vgg": vgg,
    "densenet": densenet,
    "vit": _published_vit,
    "mobile": mobile,
    "regnet": regnet,
    "convnext": convnext,
    "swin": swin,
    "branches": branches,
}
"""Functions that yield the operators of a published network, by its kind."""
