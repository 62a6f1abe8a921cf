"""A published image network: one row of `catalogs/image_networks.csv`, from which its operators are listed."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from planner.model.base import Count, Day, Frozen, Id, Positive, Text

NEEDED = {
    "resnet": ("blocks", "block", "width"),
    "vgg": ("blocks",),
    "densenet": ("blocks", "width"),
    "vit": ("layers", "hidden", "heads", "ffn_hidden", "patch_size"),
    "mobile": ("stages", "stem", "head"),
    "regnet": ("blocks", "widths", "group_width", "stem"),
    "convnext": ("blocks", "width"),
    "swin": ("blocks", "width", "heads", "window"),
    "branches": ("stages",),
}
"""Fields that a network of each kind must state."""


def _whole_numbers(value: Any) -> Any:
    """Read `3-4-6-3` as four numbers, and a name `a|b` as two."""
    return tuple(int(part) for part in value.split("-")) if isinstance(value, str) else value


def _names(value: Any) -> Any:
    return tuple(part.strip() for part in value.split("|")) if isinstance(value, str) else value


class ImageNetwork(Frozen):
    """The sizes of a published network; which of them a kind has is checked.

    resnet: `blocks` of each stage, basic or bottleneck, in `groups` of `group_width` channels (He et al. 2015; Xie et
    al. 2016, aggregated; Zagoruyko and Komodakis 2016, wide); `squeeze`: with squeeze-and-excitation (Hu et al. 2017)
    vgg: `blocks` convolutions of each stage, two hidden layers of 4,096 (Simonyan and Zisserman 2014)
    densenet: `blocks` of `width` new channels each (Huang et al. 2016)
    vit: `layers` of a transformer over patches (Dosovitskiy et al. 2020)
    mobile: `stages` of inverted bottlenecks with depthwise convolutions, in the notation of MnasNet's code (Tan et al.
    2018), `ir_r2_k3_s2_e6_c24_se0.25`: two blocks, 3x3, stride 2, 6 times widened, 24 channels, squeezed to a
    quarter; `er` widens by the k x k convolution itself (fused), `cn` is a plain convolution
    regnet: `blocks` of `widths` in groups of `group_width` channels, squeezed to a quarter (Radosavovic et al. 2020)
    convnext: `blocks` of depthwise 7x7 convolutions, of `width` and doubling (Liu et al. 2022)
    swin: `blocks` of attention inside windows of `window` x `window` patches, of `width` and `heads` and doubling (Liu
    et al. 2021); `cosine`: with queries and keys of length one, and the norms after (Liu et al. 2021, version 2)
    branches: `stages` of convolutions and pooling, in series and in parallel (`planner.network.image_branches`)
    """

    id: Id
    names: Annotated[tuple[Text, ...], BeforeValidator(_names)] = ()
    """Other spellings that tables use."""
    kind: Literal["resnet", "vgg", "densenet", "vit", "mobile", "regnet", "convnext", "swin", "branches"]
    image_size: Count
    classes: Count
    blocks: Annotated[tuple[Count, ...], BeforeValidator(_whole_numbers), Field(max_length=8)] = ()
    block: Literal["basic", "bottleneck"] | None = None
    width: Count | None = None
    widths: Annotated[tuple[Count, ...], BeforeValidator(_whole_numbers), Field(max_length=8)] = ()
    """Channels of each stage, if they do not double."""
    groups: Count = 1
    group_width: Count | None = None
    squeeze: bool = False
    norm: bool = True
    """True if a batch norm follows each convolution; vgg exists without."""
    layers: Count | None = None
    hidden: Count | None = None
    heads: Count | None = None
    ffn_hidden: Count | None = None
    patch_size: Count | None = None
    window: Count | None = None
    cosine: bool = False
    stages: Annotated[tuple[Text, ...], BeforeValidator(_names)] = ()
    stem: Count | None = None
    """Channels of the first convolution."""
    head: Count | None = None
    """Channels of the last convolution."""
    pooled_head: bool = False
    """True if the head comes after the mean over pixels (MobileNetV3)."""
    wide_squeeze: bool = False
    """True if a squeeze is a share of the widened channels, not of the block's input."""
    width_multiplier: Positive = 1.0
    """Multiplier of the channels of all stages, stem and head, rounded to a multiple of eight."""
    depth_multiplier: Positive = 1.0
    """Multiplier of the blocks of each stage, rounded up."""
    parameters_millions: Positive
    """Published number of parameters in millions, for comparison with our own count."""
    source: Text
    as_of: Day

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> Self:
        missing = [name for name in NEEDED[self.kind] if not getattr(self, name)]
        if missing:
            raise ValueError(f"a {self.kind} needs {', '.join(missing)}")
        return self
