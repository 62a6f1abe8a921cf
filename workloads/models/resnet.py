"""Residual network in plain torch: a stem, bottleneck blocks in stages, a classifier."""

from __future__ import annotations

import math
from typing import Callable, List, Optional

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own habit)
from torch import Tensor, nn

from ..contract.architecture import COLOURS, EXPANSION, ResnetShape, width
from ..models.base import NO_TARGET, Draw, Model
from ..models.pixels import as_numbers
from ..models.recompute import recomputed

NORM_EPS = 1e-5
CLASSIFIER_STD = 0.01


class ResnetModel(Model):
    """ResNet of He et al. 2015 with the stride in the 3x3 convolution ("v1.5"), as torchvision and NVIDIA train it."""

    def __init__(self, shape: ResnetShape, *, checkpointing: str = "none") -> None:
        super().__init__()
        self.stem = nn.Conv2d(COLOURS, shape.width, 7, stride=2, padding=3, bias=False)
        self.stem_norm = BatchNorm(shape.width)
        self.blocks = nn.ModuleList(_blocks(shape, checkpointing))
        self.head = nn.Linear(width(shape), shape.classes)

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean cross-entropy over the images that have a label."""
        hidden = F.relu(self.stem_norm(self.stem(as_numbers(inputs, self.stem.weight))), inplace=True)
        hidden = F.max_pool2d(hidden, 3, stride=2, padding=1)
        for block in self.blocks:
            hidden = block(hidden)
        logits = self.head(hidden.mean(dim=(2, 3)))
        return F.cross_entropy(logits.float(), targets, ignore_index=NO_TARGET)

    def compile_parts(self) -> None:
        """Compile each block for its own shape."""
        for block in self.blocks:
            assert isinstance(block, Bottleneck)
            block.compile_body()

    def fill(self, name: str, module: nn.Module, draw: Draw) -> None:
        """Draw normal weights that keep the variance after a ReLU (He et al. 2015, fan-out). Norms start at one."""
        del name
        if isinstance(module, nn.Conv2d):
            draw(module.weight, math.sqrt(2.0 / (module.out_channels * module.kernel_size[0] ** 2)))
        elif isinstance(module, nn.Linear):
            draw(module.weight, CLASSIFIER_STD)
        elif isinstance(module, BatchNorm):
            module.weight.fill_(1.0)


class Bottleneck(nn.Module):
    """relu(x + norm(1x1(relu(norm(3x3(relu(norm(1x1(x)))))))), with a 1x1 projection of x if its shape changes."""

    def __init__(self, inputs: int, inner: int, stride: int, *, projects: bool, checkpointing: str) -> None:
        super().__init__()
        outputs = EXPANSION * inner
        self.reduce = nn.Conv2d(inputs, inner, 1, bias=False)
        self.reduce_norm = BatchNorm(inner)
        self.spatial = nn.Conv2d(inner, inner, 3, stride=stride, padding=1, bias=False)
        self.spatial_norm = BatchNorm(inner)
        self.expand = nn.Conv2d(inner, outputs, 1, bias=False)
        self.expand_norm = BatchNorm(outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False) if projects else None
        self.shortcut_norm = BatchNorm(outputs) if projects else None
        self._checkpointing = checkpointing
        self._compiled: Optional[Callable[[Tensor], Tensor]] = None

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the residual stream after this block."""
        return (self._compiled or self._body)(hidden)

    def compile_body(self) -> None:
        """Compile from inside the block, so that the hooks that a strategy puts around it stay outside.

        Shapes are fixed, so no graph is made for changing ones. Each of the few kinds of block has its own.
        """
        torch._dynamo.config.cache_size_limit = max(torch._dynamo.config.cache_size_limit, MOST_KINDS_OF_BLOCK)
        self._compiled = torch.compile(self._body, dynamic=False)

    def _body(self, hidden: Tensor) -> Tensor:
        return recomputed(self._layers, self._checkpointing, hidden)

    def _layers(self, hidden: Tensor) -> Tensor:
        inner = F.relu(self.reduce_norm(self.reduce(hidden)), inplace=True)
        inner = F.relu(self.spatial_norm(self.spatial(inner)), inplace=True)
        inner = self.expand_norm(self.expand(inner))
        if self.shortcut is not None and self.shortcut_norm is not None:
            hidden = self.shortcut_norm(self.shortcut(hidden))
        return F.relu(inner + hidden, inplace=True)


class BatchNorm(nn.Module):
    """Batch norm over this rank's images, with fp32 statistics and weights in every precision.

    The running averages, which only inference reads, are not kept.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        self.bias = nn.Parameter(torch.empty(size))

    def forward(self, hidden: Tensor) -> Tensor:
        """Normalise each channel over images and pixels."""
        weight, bias = self.weight.float(), self.bias.float()
        return F.batch_norm(hidden, None, None, weight, bias, training=True, eps=NORM_EPS)


MOST_KINDS_OF_BLOCK = 64


def _blocks(shape: ResnetShape, checkpointing: str) -> List[Bottleneck]:
    blocks, inputs = [], shape.width
    for stage, count in enumerate(shape.blocks):
        inner = shape.width * 2**stage
        for number in range(count):
            stride = 2 if stage > 0 and number == 0 else 1
            blocks.append(Bottleneck(inputs, inner, stride, projects=number == 0, checkpointing=checkpointing))
            inputs = EXPANSION * inner
    return blocks
