"""Families by the `kind` of their networks."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from planner.model.network.architecture import Architecture, TextModel
from planner.network.families.family import NetworkFamily
from planner.network.families.images import ResnetFamily, VitFamily
from planner.network.families.text import DecoderFamily, EncoderFamily, MoeDecoderFamily, TextFamily

FAMILIES: dict[str, Callable[[Any], NetworkFamily]] = {
    "decoder": DecoderFamily,
    "moe_decoder": MoeDecoderFamily,
    "encoder": EncoderFamily,
    "resnet": ResnetFamily,
    "vit": VitFamily,
}


@lru_cache(maxsize=256)
def family_of(network: Architecture) -> NetworkFamily:
    """Return the family object of a network."""
    return FAMILIES[network.kind](network)


def text_family_of(network: TextModel) -> TextFamily[Any]:
    """Return the family object of a text network, which also has norms, biases and a head."""
    family = FAMILIES[str(network.kind)](network)
    assert isinstance(family, TextFamily), "a transformer on tokens is of a family of text"
    return family
