"""Model of each kind of architecture."""

from __future__ import annotations

from typing import Callable, Dict, Optional

import torch
from torch import nn

from ..contract.architecture import Architecture
from ..contract.spec import Lora, Spec
from ..models.base import Model
from ..models.decoder import DecoderModel
from ..models.resnet import ResnetModel
from ..models.vit import VitModel

TEXT_MODELS: Dict[str, Callable[..., Model]] = {"decoder": DecoderModel, "moe_decoder": DecoderModel}
IMAGE_MODELS: Dict[str, Callable[..., Model]] = {"resnet": ResnetModel, "vit": VitModel}
"""Image models by the kind of their architecture."""


def build_on_meta(spec: Spec) -> Model:
    """Return the model without memory behind it: call `to_empty(device=...)`, then `init_weights`."""
    with torch.device("meta"):
        return model_of(
            spec.architecture,
            seq_len=spec.seq_len,
            checkpointing=spec.checkpointing,
            loss_chunks=spec.loss_chunks,
            fused_loss=spec.fused_loss,
            cuda_graphs=spec.cuda_graphs,
            lora=spec.lora,
        )


def model_of(
    architecture: Architecture,
    *,
    seq_len: Optional[int],
    checkpointing: str = "none",
    loss_chunks: int = 1,
    fused_loss: bool = False,
    cuda_graphs: bool = False,
    lora: Optional[Lora] = None,
) -> Model:
    """Return the model of an architecture on torch's default device. Only a decoder takes the last four arguments."""
    if architecture.sample == "image":
        return IMAGE_MODELS[architecture.kind](architecture, checkpointing=checkpointing)
    assert seq_len is not None, "a decoder's samples have a length"
    return TEXT_MODELS[architecture.kind](
        architecture, seq_len=seq_len, checkpointing=checkpointing, loss_chunks=loss_chunks, fused_loss=fused_loss,
        cuda_graphs=cuda_graphs, lora=lora,
    )  # fmt: skip


def count_parameters(model: nn.Module, *, trained_only: bool = False) -> int:
    """Return the number of weights.

    A tied head counts once; position tables of RoPE are no weights and do not count.
    """
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad or not trained_only)
