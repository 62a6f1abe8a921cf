"""Networks whose branches are written as text, step by step: Inception, GoogLeNet, AlexNet.

A step is a convolution `3x3>64`, with `s2` for a stride and `p0` for its padding (by default it is padded so that only
the stride shrinks the image), a pooling `max3s2` or `avg3`, a linear map of all numbers `full>4096`, or branches `( ...
/ ... )` whose outputs are joined; `4*( ... )` is repeated. Every convolution has a norm or a bias, and a ReLU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from planner.network.image_blocks import (
    Operator,
    activation,
    classifier,
    convolution,
    half,
    mean,
    mean_pool,
    norm,
    pool,
)
from planner.network.image_flops import COLOURS

STEP = re.compile(r"(?:(\d+)x(\d+)>(\d+)|(max|avg)(\d+)|full>(\d+))(?:s(\d))?(?:p(\d))?")
REPEATED = re.compile(r"(\d+)\*\(")


class FeatureShape(NamedTuple):
    """Output shape of one step."""

    channels: int
    size: int


def branches(text: str, *, normed: bool, image_size: int, classes: int) -> Iterator[Operator]:
    """Yield all steps, the mean over the remaining pixels, and the classifier."""
    steps, rest = _parse(text.split())
    if rest:
        raise ValueError(f"{' '.join(rest)!r} closes what was not opened")
    operators, shape = _series(steps, FeatureShape(COLOURS, image_size), normed=normed)
    yield operators[0]._replace(first=True)
    yield from operators[1:]
    if shape.size > 1:
        yield mean(shape.channels, shape.size)
    yield classifier(shape.channels, classes)


Step: TypeAlias = "str | list[list[Step]]"


def _parse(words: list[str]) -> tuple[list[Step], list[str]]:
    """Read steps up to the end of a branch. Return them and the remaining words."""
    steps: list[Step] = []
    while words and words[0] not in (")", "/"):
        word, words = words[0], words[1:]
        times = REPEATED.fullmatch(word)
        if word != "(" and times is None:
            steps.append(word)
            continue
        parallel, closed = [], False
        while not closed:
            branch, words = _parse(words)
            if not words:
                raise ValueError("a bracket is not closed")
            parallel.append(branch)
            closed, words = words[0] == ")", words[1:]
        steps += [parallel] * (int(times[1]) if times else 1)
    return steps, words


def _series(steps: Sequence[Step], shape: FeatureShape, *, normed: bool) -> tuple[list[Operator], FeatureShape]:
    listed: list[Operator] = []
    for step in steps:
        operators, shape = _one(step, shape, normed=normed) if isinstance(step, str) else _joined(step, shape, normed)
        listed += operators
    return listed, shape


def _joined(parallel: list[list[Step]], shape: FeatureShape, normed: bool) -> tuple[list[Operator], FeatureShape]:
    """Return branches of one input, joined: all outputs are read and written, and the input's gradients are summed."""
    listed: list[Operator] = []
    outputs = []
    for branch in parallel:
        operators, after = _series(branch, shape, normed=normed)
        listed += operators
        outputs.append(after)
    sizes = {output.size for output in outputs}
    if len(sizes) != 1:
        raise ValueError(f"branches of sizes {sorted(sizes)} cannot be joined")
    joined = FeatureShape(sum(output.channels for output in outputs), outputs[0].size)
    added = 3 * (len(parallel) - 1) * shape.channels * shape.size**2
    listed.append(Operator("pointwise", forward=2 * joined.channels * joined.size**2, backward=added))
    return listed, joined


def _one(word: str, shape: FeatureShape, *, normed: bool) -> tuple[list[Operator], FeatureShape]:
    matched = STEP.fullmatch(word)
    if matched is None:
        raise ValueError(f"{word!r} is not a step; write it like 3x3>64s2, max3s2 or full>4096")
    high, across, outputs, pooled, window, full, stride, padding = matched.groups()
    if full:
        inputs = shape.channels * shape.size**2
        return [classifier(inputs, int(full)), activation(int(full), 1)], FeatureShape(int(full), 1)
    kernel, step = int(high or window), int(stride or 1)
    size = half(shape.size, step) if padding is None else (shape.size + 2 * int(padding) - kernel) // step + 1
    if pooled:
        each = pool if pooled == "max" else mean_pool
        return [each(shape.channels, shape.size, size)], FeatureShape(shape.channels, size)
    after = FeatureShape(int(outputs), size)
    made = convolution(
        shape.channels, after.channels, (kernel, int(across)), shape.size, size, bias=not normed
    )  # fmt: skip
    return [made, *([norm(*after)] if normed else []), activation(*after)], after
