"""Traces what autograd saves in one layer of the benchmark's models, without a GPU and without memory.

The model runs on fake tensors: shapes and types are computed, numbers are not. A hook sees every tensor that autograd
keeps for the backward pass, and counts each storage once. This takes about a second for any size of network.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
from typing import TYPE_CHECKING

from planner.errors import InputError, MissingExtraError
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture, TextModel
from planner.model.network.image_architecture import Vit
from planner.model.network.workload import Precision

if TYPE_CHECKING:
    from torch import Tensor

    from planner.workloads.models.base import Model

SEQ_LEN = 64
"""Length of the traced samples. Every saved tensor is proportional to the tokens, so the length does not matter."""


def traced_layer_bytes(
    architecture: Architecture, *, precision: Precision, autocast: bool = False, adapters: Adapters | None = None
) -> float:
    """Return the bytes per token that one layer saves for its backward pass without checkpointing; for a resnet, per
    image.

    bytes = (saved(2 layers) - saved(1 layer)) / tokens, and each saved as the difference of batches of 2 and 1

    The two differences remove the embedding, the loss, and tables that do not grow with the tokens. For a mixture of
    experts the result is a sparse layer. For a resnet it is the whole network, because its blocks differ. The weights
    have the products' type, as under FSDP2 and ZeRO, or fp32 under `autocast`, as in plain DDP at 16 bit. Kernels are
    the CPU's: an RMSNorm counts in its unfused form.
    """
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError("torch", "bench")

    def per_batch(cut: Architecture) -> int:
        batch_of_one, batch_of_two = (
            _saved_bytes(cut, precision, autocast=autocast, batch=batch, adapters=adapters) for batch in (1, 2)
        )
        return batch_of_two - batch_of_one

    if architecture.is_mixture and precision not in (Precision.BF16, Precision.FLOAT8):
        raise InputError(
            f"experts cannot be traced in {precision.value}: without a grouped product their number of tokens must be "
            "known.",
            fix="Take --precision bf16, or leave --trace out.",
        )
    if architecture.is_convolutional:
        return float(per_batch(architecture))
    if architecture.sample == "image":
        tokens = architecture.tokens
        return (per_batch(_with_layers(architecture, 2)) - per_batch(_with_layers(architecture, 1))) / tokens
    if architecture.positions == "rope" and architecture.head_dim % 2:
        raise InputError(
            f"head_dim {architecture.head_dim} is odd, and rotary positions pair up.", fix="Give an even one."
        )
    return (per_batch(_with_layers(architecture, 2)) - per_batch(_with_layers(architecture, 1))) / SEQ_LEN


def _with_layers(architecture: TextModel | Vit, layers: int) -> Architecture:
    """Return the architecture with this number of layers; for a mixture of experts, sparse layers."""
    shorter = architecture.of_largest_layers(layers)
    return shorter if shorter.sample == "image" else shorter.model_copy(update={"max_positions": SEQ_LEN})


def _model(architecture: Architecture, adapters: Adapters | None) -> Model:
    """Build the benchmark's model on torch's current default device."""
    from planner.workloads.contract.spec import Lora
    from planner.workloads.contract.spec_reader import architecture_of
    from planner.workloads.models.lora import freeze_all_but_adapters
    from planner.workloads.models.registry import model_of

    shape = architecture_of(json.loads(architecture.model_dump_json()))
    lora = None if adapters is None else Lora(rank=adapters.rank, alpha=float(adapters.rank), targets=adapters.targets)
    model = model_of(shape, seq_len=SEQ_LEN if architecture.sample == "tokens" else None, lora=lora)
    if lora is not None:
        freeze_all_but_adapters(model)
    return model


def _batch(architecture: Architecture, batch: int) -> tuple[Tensor, Tensor]:
    import torch

    if architecture.sample == "image":
        side = architecture.image_size
        return torch.zeros(batch, 3, side, side, dtype=torch.uint8), torch.zeros(batch, dtype=torch.long)
    tokens = torch.zeros(batch, SEQ_LEN, dtype=torch.long)
    return tokens, tokens


def _saved_bytes(
    architecture: Architecture, precision: Precision, *, autocast: bool, batch: int, adapters: Adapters | None
) -> int:
    """Return the bytes of all storages that autograd holds after the forward pass, without weights."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    low = {Precision.FP16: torch.float16, Precision.BF16: torch.bfloat16, Precision.FLOAT8: torch.bfloat16}
    products = low.get(precision, torch.float32)
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32 if autocast else products)
    try:
        with FakeTensorMode():
            model = _model(architecture, adapters)
            model.init_weights(seed=0)
            inputs, targets = _batch(architecture, batch)
            own = {weight.untyped_storage()._cdata for weight in model.parameters()}
            storages: dict[int, torch.UntypedStorage] = {}  # kept alive, so that no address is used twice

            def count(tensor: Tensor) -> Tensor:
                storage = tensor.untyped_storage()
                if storage._cdata not in own:
                    storages[storage._cdata] = storage
                return tensor

            casts = torch.autocast("cpu", dtype=products) if autocast else contextlib.nullcontext()
            with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor), casts:
                model(inputs, targets)
            return sum(storage.nbytes() for storage in storages.values())
    finally:
        torch.set_default_dtype(usual)
