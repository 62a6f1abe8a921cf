"""What image networks are made of: operators, with what each multiplies and moves for one image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["convolution", "depthwise", "linear", "attention", "windows", "norm", "pointwise"]


class Operator(NamedTuple):
    """One operator of the forward pass, and what its backward pass costs, for one image.

    A product (convolution, linear) multiplies three times, forward, for its input's gradient and for its weights',
    and each time moves its input and its output once. The others do no arithmetic to speak of: they read and write.
    """

    kind: Kind
    """depthwise: a convolution of each channel by itself; windows: attention that frameworks write out."""
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


def half(size: int, stride: int = 2) -> int:
    """Pixels on a side after a stride, where the rim is padded: size / stride, rounded up."""
    return -(-size // stride)


def convolution(
    inputs: int, outputs: int, kernel: int | tuple[int, int], before: int, after: int, *, groups: int = 1,
    first: bool = False, bias: bool = False,
) -> Operator:  # fmt: skip
    """Return a convolution from `before` to `after` pixels on a side. One number as the kernel is a square.

    weights = inputs x outputs x kernel height x kernel width / groups; multiply-accumulates = weights x after^2
    """
    height, width = (kernel, kernel) if isinstance(kernel, int) else kernel
    weights = inputs * outputs * height * width // groups
    return Operator(
        "convolution", weights * after**2, inputs * before**2, outputs * after**2,
        weights=weights + outputs * bias, first=first,
        winograd=height == width == 3 and before == after and groups == 1,
    )  # fmt: skip


def depthwise(channels: int, kernel: int, before: int, after: int, *, bias: bool = False) -> Operator:
    """A convolution of each channel by itself: channels x kernel^2 weights, each used once for each output pixel."""
    weights = channels * kernel**2
    return Operator(
        "depthwise", weights * after**2, channels * before**2, channels * after**2, weights=weights + channels * bias
    )


def norm(channels: int, size: int) -> Operator:
    """Batch norm: reads for the statistics, reads again and writes; backward reads both twice and writes."""
    numbers = channels * size**2
    return Operator("norm", weights=2 * channels, forward=3 * numbers, backward=5 * numbers)


def activation(channels: int, size: int) -> Operator:
    """ReLU, SiLU, h-swish: reads and writes; backward reads one tensor and a gradient, and writes."""
    return Operator("pointwise", forward=2 * channels * size**2, backward=3 * channels * size**2)


def add(channels: int, size: int) -> Operator:
    """Reads two and writes one; backward, where the two paths part, their gradients are added."""
    return Operator("pointwise", forward=3 * channels * size**2, backward=3 * channels * size**2)


def pool(channels: int, before: int, after: int) -> Operator:
    """Largest of a window: reads all, writes values and places (8 bytes, four numbers); backward fills all again."""
    forward = channels * (before**2 + 5 * after**2)
    return Operator("pointwise", forward=forward, backward=forward)


def mean_pool(channels: int, before: int, after: int) -> Operator:
    """Mean of a window: reads all and writes values; backward the other way round."""
    forward = channels * (before**2 + after**2)
    return Operator("pointwise", forward=forward, backward=forward)


def mean(channels: int, size: int) -> Operator:
    """Mean over all pixels."""
    return Operator("pointwise", forward=channels * size**2, backward=channels * size**2)


def classifier(inputs: int, outputs: int) -> Operator:
    """A linear map of one vector, with bias."""
    return Operator("linear", inputs * outputs, inputs, outputs, weights=(inputs + 1) * outputs)


def squeeze(channels: int, size: int, narrow: int) -> Iterator[Operator]:
    """Mean over pixels, two small products with their activations, and each channel scaled.

    Scaling reads and writes; backward it reads image and gradient for each of the two that it multiplies, and writes.
    """
    yield mean(channels, size)
    yield classifier(channels, narrow)
    yield activation(narrow, 1)
    yield classifier(narrow, channels)
    yield activation(channels, 1)
    yield Operator("pointwise", forward=2 * channels * size**2, backward=5 * channels * size**2)


def layer_norm(tokens: int, d: int) -> Operator:
    """Reads, writes, and a copy in the products' type; backward reads two, writes one, and joins the residual."""
    return Operator("pointwise", weights=2 * d, forward=3.5 * tokens * d, backward=6 * tokens * d, wide=True)


def residual(tokens: int, d: int) -> Operator:
    """Adds a product's output to the fp32 stream."""
    return Operator("pointwise", forward=2.5 * tokens * d, backward=1.5 * tokens * d, wide=True)


def linear(tokens: int, inputs: int, outputs: int, *, bias: bool = True) -> Operator:
    """A linear map of every token."""
    weights = (inputs + bias) * outputs
    return Operator("linear", tokens * inputs * outputs, tokens * inputs, tokens * outputs, weights=weights)


def mlp(tokens: int, d: int, hidden: int) -> Iterator[Operator]:
    """Two linear maps with a GELU between."""
    yield linear(tokens, d, hidden)
    yield Operator("pointwise", forward=2 * tokens * hidden, backward=3 * tokens * hidden)
    yield linear(tokens, hidden, d)
