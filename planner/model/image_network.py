"""A published image network: one row of `catalogs/image_networks.csv`, from which its operators are listed."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from planner.model.base import Count, Frozen, Id, Positive, Text


def _whole_numbers(value: Any) -> Any:
    """Read `3-4-6-3` as four numbers, and a name `a|b` as two."""
    return tuple(int(part) for part in value.split("-")) if isinstance(value, str) else value


def _names(value: Any) -> Any:
    return tuple(value.split("|")) if isinstance(value, str) else value


class ImageNetwork(Frozen):
    """The sizes of a published network; which of them a kind has is checked.

    resnet: `blocks` of each stage, basic or bottleneck, in `groups` of `group_width` channels (He et al. 2015; Xie et
    al. 2016, aggregated; Zagoruyko and Komodakis 2016, wide); `squeeze`: with squeeze-and-excitation (Hu et al. 2017)
    vgg: `blocks` convolutions of each stage, two hidden layers of 4,096 (Simonyan and Zisserman 2014)
    densenet: `blocks` of `width` new channels each (Huang et al. 2016)
    vit: `layers` of a transformer over patches (Dosovitskiy et al. 2020)
    """

    id: Id
    names: Annotated[tuple[Text, ...], BeforeValidator(_names)] = ()
    """Other spellings that tables use."""
    kind: Literal["resnet", "vgg", "densenet", "vit"]
    image_size: Count
    classes: Count
    blocks: Annotated[tuple[Count, ...], BeforeValidator(_whole_numbers), Field(max_length=8)] = ()
    block: Literal["basic", "bottleneck"] | None = None
    width: Count | None = None
    groups: Count = 1
    group_width: Count | None = None
    squeeze: bool = False
    norm: bool = True
    """Whether a batch norm follows each convolution; vgg comes without, too."""
    layers: Count | None = None
    hidden: Count | None = None
    heads: Count | None = None
    ffn_hidden: Count | None = None
    patch_size: Count | None = None
    parameters_millions: Positive
    """As published: what our own count is held against."""
    source: Text
    as_of: date

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> Self:
        needed = {
            "resnet": ("blocks", "block", "width"),
            "vgg": ("blocks",),
            "densenet": ("blocks", "width"),
            "vit": ("layers", "hidden", "heads", "ffn_hidden", "patch_size"),
        }[self.kind]
        missing = [name for name in needed if not getattr(self, name)]
        if missing:
            raise ValueError(f"a {self.kind} needs {', '.join(missing)}")
        return self
