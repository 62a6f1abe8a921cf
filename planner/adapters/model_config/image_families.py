"""Translates Hugging Face's image networks into the planner's terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planner.adapters.model_config.fields import ConfigFields
from planner.model.network.image_architecture import MOST_STAGES

IMAGE_SIZE = 224
"""Image size of a ResNet, whose configuration leaves it to the image processor (He et al. 2015)."""
CLASSES = 1000
"""The number of labels in ImageNet, for a configuration that names neither labels nor its class."""
UNSAVED_CLASSES = 2
"""The number of labels of a classifier that names none: transformers does not save its default."""
EXPANSION = 4


def vit_document(fields: ConfigFields) -> dict[str, Any]:
    """Return a vision transformer: `ViTConfig` of huggingface/transformers."""
    if fields.number_of("num_channels", default=3) != 3:
        raise ValueError("num_channels: the planner counts images of three colours")
    return {
        "kind": "vit",
        "layers": fields.count("num_hidden_layers"),
        "hidden": fields.count("hidden_size"),
        "heads": fields.count("num_attention_heads"),
        "ffn_hidden": fields.count("intermediate_size"),
        "patch_size": fields.count("patch_size"),
        "image_size": fields.count("image_size"),
        "classes": _classes(fields),
    }


def resnet_document(fields: ConfigFields) -> dict[str, Any]:
    """Return a ResNet of bottleneck blocks that stride in the 3x3 convolution: `ResNetConfig`."""
    if fields.word("layer_type", default="bottleneck") != "bottleneck":
        raise ValueError("layer_type: the planner plans resnets of bottleneck blocks (50 layers and more)")
    if fields.flag("downsample_in_bottleneck", default=False):
        raise ValueError("downsample_in_bottleneck: the planner's resnets stride in the 3x3 convolution")
    width, widths = fields.count("embedding_size"), fields.numbers("hidden_sizes")
    depths = fields.numbers("depths")
    if not 1 <= len(depths) <= MOST_STAGES:
        raise ValueError(f"depths: must name 1 to {MOST_STAGES} stages (found {len(depths):,})")
    if list(widths) != [width * EXPANSION * 2**stage for stage in range(len(depths))]:
        raise ValueError("hidden_sizes: every stage of the planner's resnets doubles 4 x embedding_size")
    return {
        "kind": "resnet",
        "blocks": depths,
        "width": width,
        "image_size": fields.count("image_size", default=IMAGE_SIZE),
        "classes": _classes(fields),
    }


def _classes(fields: ConfigFields) -> int:
    is_classifier = any(name.endswith("ForImageClassification") for name in fields.words("architectures"))
    default = UNSAVED_CLASSES if is_classifier else CLASSES
    return fields.entries("id2label") or fields.count("num_labels", default=default)


IMAGE_FAMILIES: dict[str, Callable[[ConfigFields], dict[str, Any]]] = {"vit": vit_document, "resnet": resnet_document}
"""Readers by `model_type`."""
