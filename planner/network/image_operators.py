"""Operators of an image network, one by one: multiply-accumulates and numbers moved for one image."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from planner.model.network.architecture import Resnet, Vit
from planner.model.network.image_network import ImageNetwork
from planner.network.image_blocks import Operator
from planner.network.image_branches import branches
from planner.network.image_depthwise import Mobile, convnext, mobile, rounded, stage_of
from planner.network.image_plain import Stages, densenet, regnet, resnet, vgg
from planner.network.image_transformers import swin, vit


@cache
def operators_of(network: Resnet | Vit | ImageNetwork) -> tuple[Operator, ...]:
    """List the operators in the order of the forward pass."""
    if isinstance(network, Vit):
        return tuple(vit(network))
    if isinstance(network, Resnet):
        stages = Stages(network.blocks, network.width)
        return tuple(resnet(stages, image_size=network.image_size, classes=network.classes))
    return tuple(_published(network))


def training_macs(operators: tuple[Operator, ...]) -> float:
    """Return the multiply-accumulates of one image of training, forward and backward."""
    return sum(each.macs * (2 if each.first else 3) for each in operators)


def weights_of(operators: tuple[Operator, ...]) -> float:
    """Return the number of trained parameters."""
    return sum(each.weights for each in operators)


def _published(network: ImageNetwork) -> Iterator[Operator]:
    size, classes, width = network.image_size, network.classes, network.width or 0
    match network.kind:
        case "resnet":
            yield from resnet(_stages(network), image_size=size, classes=classes)
        case "vgg":
            yield from vgg(network.blocks, normed=network.norm, image_size=size, classes=classes)
        case "densenet":
            yield from densenet(network.blocks, width, image_size=size, classes=classes)
        case "vit":
            yield from vit(Vit.model_validate(network.model_dump(include=set(Vit.model_fields))))
        case "mobile":
            yield from mobile(_mobile(network), image_size=size, classes=classes)
        case "regnet":
            yield from regnet(
                network.blocks, network.widths, group_width=network.group_width or 1, stem=network.stem or 0,
                image_size=size, classes=classes,
            )  # fmt: skip
        case "convnext":
            yield from convnext(network.blocks, width, image_size=size, classes=classes)
        case "swin":
            yield from swin(
                network.blocks, width, heads=network.heads or 1, window=network.window or 1, cosine=network.cosine,
                image_size=size, classes=classes,
            )  # fmt: skip
        case "branches":
            yield from branches(" ".join(network.stages), normed=network.norm, image_size=size, classes=classes)


def _stages(network: ImageNetwork) -> Stages:
    return Stages(
        network.blocks,
        network.width or 0,
        network.groups * network.group_width if network.group_width else None,
        network.groups,
        network.block == "bottleneck",
        network.squeeze,
    )


def _mobile(network: ImageNetwork) -> Mobile:
    width, depth = network.width_multiplier, network.depth_multiplier
    return Mobile(
        tuple(stage_of(each, width=width, depth=depth) for each in network.stages),
        rounded((network.stem or 0) * width),
        rounded((network.head or 0) * width),
        network.pooled_head,
        network.wide_squeeze,
    )
