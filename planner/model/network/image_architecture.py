"""Networks on images that the planner can describe: ResNets and vision transformers."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Count, Frozen

Blocks = Annotated[int, Field(strict=True, ge=1, le=1000)]
"""Number of blocks of an image network, whose operators are listed one by one.

The deepest published have some hundred.
"""


MOST_STAGES = 8
"""Largest number of stages of an image network."""


Pixels = Annotated[int, Field(strict=True, ge=1, le=100_000)]
"""Pixels on a side of an image."""


class ImageArchitecture(Frozen):
    """Common fields of networks on images."""

    sample: ClassVar[Literal["image"]] = "image"
    """Kind of sample."""
    is_mixture: ClassVar[Literal[False]] = False
    """True if tokens are sent to some of many experts."""
    has_benchmark: ClassVar[bool] = True
    """True if the benchmark can build it."""
    usual_batch: ClassVar[int] = 64
    """Samples of a micro-batch if not stated."""


class Resnet(ImageArchitecture):
    """A residual network of bottleneck blocks: 1x1, 3x3 (which strides), 1x1 with four times the width.

    Source: He et al. 2015; the stride in the 3x3 convolution is that of torchvision's and NVIDIA's "v1.5".
    """

    is_convolutional: ClassVar[Literal[True]] = True
    """True: its products are convolutions, which prefer the colours of a pixel next to each other in memory."""
    kind: Literal["resnet"]
    """Kind of network."""
    blocks: Annotated[tuple[Blocks, ...], Field(min_length=1, max_length=MOST_STAGES)]
    """Blocks in each stage. Every stage after the first halves the image and doubles the width."""
    width: Count = 64
    """Channels after the stem, and of the first stage's 3x3 convolutions."""
    image_size: Pixels
    """Pixels on a side, with three colours."""
    classes: Count
    """Number of classes."""


class Vit(ImageArchitecture):
    """A vision transformer with a class token, learned positions, pre-norm blocks, biases, and GELU.

    Source: Dosovitskiy et al. 2020.
    """

    is_convolutional: ClassVar[Literal[False]] = False
    """True if its products are convolutions."""
    kind: Literal["vit"]
    """Kind of network."""
    layers: Blocks
    """Number of layers."""
    hidden: Count
    """Size of the hidden state."""
    heads: Count
    """Heads of attention."""
    ffn_hidden: Count
    """Inner size of the MLP."""
    patch_size: Count
    """Pixels on a side of a patch."""
    image_size: Pixels
    """Pixels on a side, with three colours."""
    classes: Count
    """Number of classes."""

    @model_validator(mode="after")
    def _sizes_divide(self) -> Self:
        if self.image_size % self.patch_size:
            raise ValueError(f"image_size ({self.image_size}) must be a multiple of patch_size ({self.patch_size})")
        if self.hidden % self.heads:
            raise ValueError(f"hidden ({self.hidden}) must be a multiple of heads ({self.heads})")
        return self

    @property
    def tokens(self) -> int:
        """Number of patches of one image plus the class token."""
        return (self.image_size // self.patch_size) ** 2 + 1

    def of_largest_layers(self, layers: int) -> Self:
        """Return the same network with this many layers."""
        return self.model_copy(update={"layers": layers})

    def cut(self, layers: int) -> Vit:
        """Return the same network with only its first layers."""
        return self.model_copy(update={"layers": layers})
