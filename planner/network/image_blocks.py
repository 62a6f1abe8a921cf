"""Operators of image networks, with the multiplications and the numbers moved for one image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["convolution", "depthwise", "linear", "attention", "windows", "norm", "pointwise"]


class Operator(NamedTuple):
    """One operator of the forward pass, with the cost of its backward pass, for one image.

    A product (convolution, linear) multiplies three times: forward, for its input's gradient and for its weights'
    gradient. Each time it moves its input and its output once. The others do hardly any arithmetic: they read and
    write.
    """

    kind: Kind
    """Kind of operator. depthwise convolves each channel by itself; windows is attention that frameworks write out."""
    macs: float = 0.0
    """Multiply-accumulates of the forward pass."""
    inputs: float = 0.0
    outputs: float = 0.0
    """Numbers in the output; for attention, of its matrices, one for each head."""
    weights: float = 0.0
    first: bool = False
    """True for the first operator: the gradient of the image is not needed."""
    forward: float = 0.0
    backward: float = 0.0
    """Numbers that a norm or a pointwise operator moves."""
    wide: bool = False
    """True if it computes in fp32 under automatic mixed precision."""
    winograd: bool = False
    """True for a 3x3 convolution without stride, which Winograd computes with 2.25 times fewer multiplications."""


COLOURS = 3
PATCH = 4
"""Pixels on a side of the patches with which ConvNeXt and Swin begin."""


def half(size: int, stride: int = 2) -> int:
    """Return the pixels on a side after a stride, with padding: size / stride, rounded up."""
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
    """Return a convolution of each channel by itself: channels x kernel^2 weights, each used once for each output
    pixel.
    """
    weights = channels * kernel**2
    return Operator(
        "depthwise", weights * after**2, channels * before**2, channels * after**2, weights=weights + channels * bias
    )


def norm(channels: int, size: int) -> Operator:
    """Return a batch norm: it reads for the statistics, reads again and writes.

    Backward reads both twice and writes.
    """
    numbers = channels * size**2
    return Operator("norm", weights=2 * channels, forward=3 * numbers, backward=5 * numbers)


def activation(channels: int, size: int) -> Operator:
    """Return a ReLU, SiLU or h-swish: it reads and writes. Backward reads one tensor and a gradient, and writes."""
    return Operator("pointwise", forward=2 * channels * size**2, backward=3 * channels * size**2)


def convolved(
    inputs: int, outputs: int, kernel: int, before: int, after: int, *, groups: int = 1, first: bool = False
) -> Iterator[Operator]:
    """Yield a convolution, its norm and its activation."""
    yield convolution(inputs, outputs, kernel, before, after, groups=groups, first=first)
    yield norm(outputs, after)
    yield activation(outputs, after)


def patch_embedding(width: int, image_size: int) -> Iterator[Operator]:
    """Yield the convolution of patches and its layer norm."""
    size = half(image_size, PATCH)
    yield convolution(COLOURS, width, PATCH, image_size, size, first=True, bias=True)
    yield layer_norm(size**2, width)


def add(channels: int, size: int) -> Operator:
    """Return a sum: it reads two and writes one. Backward adds the gradients where the two paths part."""
    return Operator("pointwise", forward=3 * channels * size**2, backward=3 * channels * size**2)


def pool(channels: int, before: int, after: int) -> Operator:
    """Return a max pooling: it reads all, writes values and places (8 bytes, four numbers).

    Backward fills all again.
    """
    forward = channels * (before**2 + 5 * after**2)
    return Operator("pointwise", forward=forward, backward=forward)


def mean_pool(channels: int, before: int, after: int) -> Operator:
    """Return a mean pooling: it reads all and writes values. Backward is the reverse."""
    forward = channels * (before**2 + after**2)
    return Operator("pointwise", forward=forward, backward=forward)


def mean(channels: int, size: int) -> Operator:
    """Return a mean over all pixels."""
    return Operator("pointwise", forward=channels * size**2, backward=channels * size**2)


def classifier(inputs: int, outputs: int) -> Operator:
    """Return a linear map of one vector, with bias."""
    return Operator("linear", inputs * outputs, inputs, outputs, weights=(inputs + 1) * outputs)


def squeeze(channels: int, size: int, narrow: int) -> Iterator[Operator]:
    """Yield a mean over pixels, two small products with their activations, and a scaling of each channel.

    Scaling reads and writes. Backward it reads image and gradient for each of the two factors, and writes.
    """
    yield mean(channels, size)
    yield classifier(channels, narrow)
    yield activation(narrow, 1)
    yield classifier(narrow, channels)
    yield activation(channels, 1)
    yield Operator("pointwise", forward=2 * channels * size**2, backward=5 * channels * size**2)


def layer_norm(tokens: int, d: int) -> Operator:
    """Return a layer norm: it reads, writes, and copies to the products' type.

    Backward reads two, writes one, and joins the residual.
    """
    return Operator("pointwise", weights=2 * d, forward=3.5 * tokens * d, backward=6 * tokens * d, wide=True)


def residual(tokens: int, d: int) -> Operator:
    """Return the sum of a product's output and the fp32 stream."""
    return Operator("pointwise", forward=2.5 * tokens * d, backward=1.5 * tokens * d, wide=True)


def linear(tokens: int, inputs: int, outputs: int, *, bias: bool = True) -> Operator:
    """Return a linear map of every token."""
    weights = (inputs + bias) * outputs
    return Operator("linear", tokens * inputs * outputs, tokens * inputs, tokens * outputs, weights=weights)


def mlp(tokens: int, d: int, hidden: int) -> Iterator[Operator]:
    """Yield two linear maps with a GELU between."""
    yield linear(tokens, d, hidden)
    yield Operator("pointwise", forward=2 * tokens * hidden, backward=3 * tokens * hidden)
    yield linear(tokens, hidden, d)
