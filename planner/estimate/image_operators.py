"""The operators of an image network, one by one: multiply-accumulates and numbers moved for one image."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

from planner.estimate.image_flops import COLOURS, EXPANSION
from planner.model.architecture import Resnet, Vit
from planner.model.image_network import ImageNetwork

SQUEEZED = 16
"""Squeeze-and-excitation narrows its vector so many times (Hu et al. 2017)."""
HIDDEN_OF_VGG = 4096
NARROWED = 4
"""DenseNet: a 1x1 convolution to so many times the new channels comes before each 3x3 (Huang et al. 2016)."""

Kind = Literal["convolution", "linear", "attention", "norm", "pointwise"]


class Operator(NamedTuple):
    """One operator of the forward pass, and what its backward pass costs, for one image.

    A product (convolution, linear) multiplies three times, forward, for its input's gradient and for its weights',
    and each time moves its input and its output once. The others do no arithmetic to speak of: they read and write.
    """

    kind: Kind
    macs: float = 0.0
    """Multiply-accumulates of the forward pass."""
    inputs: float = 0.0
    outputs: float = 0.0
    """Numbers; of attention: of its matrices, one for each head."""
    weights: float = 0.0
    first: bool = False
    """Nobody asks for the gradient of the image."""
    forward: float = 0.0
    backward: float = 0.0
    """Numbers that a norm or a pointwise operator moves."""
    wide: bool = False
    """Computes in fp32 under automatic mixed precision."""
    winograd: bool = False
    """A 3x3 convolution without stride: it can be computed with 2.25 times fewer multiplications."""


@cache
def operators_of(network: Resnet | Vit | ImageNetwork) -> tuple[Operator, ...]:
    """List the operators in the order of the forward pass."""
    if isinstance(network, Vit):
        return tuple(_vit(network))
    if isinstance(network, Resnet):
        stages = _Stages(network.blocks, network.width)
        return tuple(_resnet(stages, image_size=network.image_size, classes=network.classes))
    return tuple(_published(network))


def training_macs(operators: tuple[Operator, ...]) -> float:
    """Multiply-accumulates of one image of training, forward and backward."""
    return sum(each.macs * (2 if each.first else 3) for each in operators)


def weights_of(operators: tuple[Operator, ...]) -> float:
    """Trained parameters."""
    return sum(each.weights for each in operators)


class _Stages(NamedTuple):
    """The middle of a residual network; `inner` is the width of the first stage's 3x3 convolutions."""

    blocks: tuple[int, ...]
    width: int
    inner: int | None = None
    groups: int = 1
    bottleneck: bool = True
    squeeze: bool = False


def _published(network: ImageNetwork) -> Iterator[Operator]:
    size, classes = network.image_size, network.classes
    if network.kind == "vgg":
        return _vgg(network.blocks, norm=network.norm, image_size=size, classes=classes)
    if network.kind == "densenet":
        return _densenet(network.blocks, network.width or 0, image_size=size, classes=classes)
    if network.kind == "vit":
        named = network.model_dump(include=set(Vit.model_fields))
        return _vit(Vit.model_validate(named))
    stages = _Stages(
        network.blocks,
        network.width or 0,
        network.groups * network.group_width if network.group_width else None,
        network.groups,
        network.block == "bottleneck",
        network.squeeze,
    )
    return _resnet(stages, image_size=size, classes=classes)


def _convolution(
    inputs: int, outputs: int, kernel: int, before: int, after: int, *, groups: int = 1, first: bool = False
) -> Operator:
    weights = inputs * outputs * kernel**2 // groups
    return Operator(
        "convolution", weights * after**2, inputs * before**2, outputs * after**2, weights=weights, first=first,
        winograd=kernel == 3 and before == after and groups == 1,
    )  # fmt: skip


def _norm(channels: int, size: int) -> Operator:
    """Batch norm: reads for the statistics, reads again and writes; backward reads both twice and writes."""
    numbers = channels * size**2
    return Operator("norm", weights=2 * channels, forward=3 * numbers, backward=5 * numbers)


def _relu(channels: int, size: int) -> Operator:
    """Reads and writes; backward reads the output and its gradient, and writes."""
    return Operator("pointwise", forward=2 * channels * size**2, backward=3 * channels * size**2)


def _add(channels: int, size: int) -> Operator:
    """Reads two and writes one; backward, where the two paths part, their gradients are added."""
    return Operator("pointwise", forward=3 * channels * size**2, backward=3 * channels * size**2)


def _pool(channels: int, before: int, after: int) -> Operator:
    """Reads all, writes values and their places (8 bytes, four numbers); backward fills the large one again."""
    forward = channels * (before**2 + 5 * after**2)
    return Operator("pointwise", forward=forward, backward=forward)


def _classifier(inputs: int, outputs: int) -> Operator:
    return Operator("linear", inputs * outputs, inputs, outputs, weights=(inputs + 1) * outputs)


def _squeeze(channels: int, size: int) -> Iterator[Operator]:
    """Mean over pixels, two small products, and each channel scaled: reads twice, writes once, twice that backward."""
    yield Operator("pointwise", forward=3 * channels * size**2, backward=6 * channels * size**2)
    narrow = channels // SQUEEZED
    yield _classifier(channels, narrow)
    yield _classifier(narrow, channels)


def _half(size: int) -> int:
    return (size + 1) // 2


def _resnet(stages: _Stages, *, image_size: int, classes: int) -> Iterator[Operator]:
    size, channels = _half(image_size), stages.width
    yield _convolution(COLOURS, channels, 7, image_size, size, first=True)
    yield _norm(channels, size)
    yield _relu(channels, size)
    yield _pool(channels, size, _half(size))
    size = _half(size)
    for stage, blocks in enumerate(stages.blocks):
        for number in range(blocks):
            before = size
            if stage > 0 and number == 0:
                size = _half(size)
            yield from _block(stages, stage, channels, before, size)
            channels = stages.width * 2**stage * (EXPANSION if stages.bottleneck else 1)
    yield Operator("pointwise", forward=channels * size**2, backward=channels * size**2)
    yield _classifier(channels, classes)


def _block(stages: _Stages, stage: int, inputs: int, before: int, size: int) -> Iterator[Operator]:
    """Convolutions with norm and ReLU, the shortcut, their sum, and a last ReLU; the 3x3 convolution strides."""
    width = stages.width * 2**stage
    inner = (stages.inner or stages.width) * 2**stage
    outputs = width * (EXPANSION if stages.bottleneck else 1)
    if stages.bottleneck:
        steps = [
            _convolution(inputs, inner, 1, before, before),
            _convolution(inner, inner, 3, before, size, groups=stages.groups),
            _convolution(inner, outputs, 1, size, size),
        ]
        after = [(inner, before), (inner, size), (outputs, size)]
    else:
        steps = [_convolution(inputs, outputs, 3, before, size), _convolution(outputs, outputs, 3, size, size)]
        after = [(outputs, size), (outputs, size)]
    for place, (step, shape) in enumerate(zip(steps, after, strict=True)):
        yield step
        yield _norm(*shape)
        if place < len(steps) - 1:
            yield _relu(*shape)
    if stages.squeeze:
        yield from _squeeze(outputs, size)
    if inputs != outputs or before != size:
        yield _convolution(inputs, outputs, 1, before, size)
        yield _norm(outputs, size)
    yield _add(outputs, size)
    yield _relu(outputs, size)


def _vgg(blocks: tuple[int, ...], *, norm: bool, image_size: int, classes: int) -> Iterator[Operator]:
    size, channels, first = image_size, COLOURS, True
    for stage, count in enumerate(blocks):
        width = min(64 * 2**stage, 512)
        for _ in range(count):
            plain = _convolution(channels, width, 3, size, size, first=first)
            yield plain._replace(weights=plain.weights + width)
            if norm:
                yield _norm(width, size)
            yield _relu(width, size)
            channels, first = width, False
        yield _pool(width, size, size // 2)
        size //= 2
    for inputs, outputs in ((channels * size**2, HIDDEN_OF_VGG), (HIDDEN_OF_VGG, HIDDEN_OF_VGG)):
        yield _classifier(inputs, outputs)
        yield Operator("pointwise", forward=4 * outputs, backward=5 * outputs)
    yield _classifier(HIDDEN_OF_VGG, classes)


def _densenet(blocks: tuple[int, ...], growth: int, *, image_size: int, classes: int) -> Iterator[Operator]:
    """Every layer reads all channels before it: norm, ReLU, 1x1, norm, ReLU, 3x3, and joins its own to them."""
    channels, size = 2 * growth, _half(image_size)
    yield _convolution(COLOURS, channels, 7, image_size, size, first=True)
    yield _norm(channels, size)
    yield _relu(channels, size)
    yield _pool(channels, size, _half(size))
    size = _half(size)
    for stage, layers in enumerate(blocks):
        for _ in range(layers):
            inner = NARROWED * growth
            yield _norm(channels, size)
            yield _relu(channels, size)
            yield _convolution(channels, inner, 1, size, size)
            yield _norm(inner, size)
            yield _relu(inner, size)
            yield _convolution(inner, growth, 3, size, size)
            joined = (channels + growth) * size**2
            yield Operator("pointwise", forward=2 * joined, backward=3 * joined)
            channels += growth
        if stage < len(blocks) - 1:
            yield _norm(channels, size)
            yield _relu(channels, size)
            yield _convolution(channels, channels // 2, 1, size, size)
            channels, before, size = channels // 2, size, size // 2
            yield Operator("pointwise", forward=channels * (before**2 + size**2), backward=channels * 2 * before**2)
    yield _norm(channels, size)
    yield _relu(channels, size)
    yield _classifier(channels, classes)


def _vit(vit: Vit) -> Iterator[Operator]:
    """Patches, and per block two layer norms, three products into attention, one out of it, two of the MLP."""
    d, ffn, tokens = vit.hidden, vit.ffn_hidden, vit.tokens
    fan_in = COLOURS * vit.patch_size**2
    patches = tokens - 1
    weights = fan_in * d + d + d + tokens * d  # with bias, class token, positions
    yield Operator("convolution", fan_in * d * patches, fan_in * patches, d * patches, weights=weights, first=True)
    yield Operator("pointwise", forward=4 * tokens * d, backward=2 * tokens * d, wide=True)
    for _ in range(vit.layers):
        yield _layer_norm(tokens, d)
        yield _linear(tokens, d, 3 * d)
        yield Operator("attention", 2 * tokens**2 * d, tokens * 3 * d, vit.heads * tokens**2)
        yield Operator("pointwise", forward=8 * tokens * d, backward=8 * tokens * d)  # heads apart, and together
        yield _linear(tokens, d, d)
        yield _residual(tokens, d)
        yield _layer_norm(tokens, d)
        yield _linear(tokens, d, ffn)
        yield Operator("pointwise", forward=2 * tokens * ffn, backward=3 * tokens * ffn)  # GELU
        yield _linear(tokens, ffn, d)
        yield _residual(tokens, d)
    yield _layer_norm(tokens, d)
    yield _classifier(d, vit.classes)


def _layer_norm(tokens: int, d: int) -> Operator:
    """Reads, writes, and a copy in the products' type; backward reads two, writes one, and joins the residual."""
    return Operator("pointwise", weights=2 * d, forward=3.5 * tokens * d, backward=6 * tokens * d, wide=True)


def _residual(tokens: int, d: int) -> Operator:
    return Operator("pointwise", forward=2.5 * tokens * d, backward=1.5 * tokens * d, wide=True)


def _linear(tokens: int, inputs: int, outputs: int) -> Operator:
    weights = (inputs + 1) * outputs
    return Operator("linear", tokens * inputs * outputs, tokens * inputs, tokens * outputs, weights=weights)
