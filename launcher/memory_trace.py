"""What autograd really saves in one layer of the benchmark's decoder, traced without a GPU and without memory.

The decoder runs on fake tensors: shapes and types are computed, numbers are not. Every tensor that autograd keeps for
the backward pass goes through a hook, which counts each storage once. About a second for any size of network.
"""

from __future__ import annotations

import contextlib
import importlib.util
from typing import TYPE_CHECKING

from planner.errors import InputError, MissingExtraError
from planner.model.architecture import Decoder
from planner.model.workload import Precision

if TYPE_CHECKING:
    from torch import Tensor

SEQ_LEN = 64
"""Of the traced samples. Every saved tensor is proportional to the tokens, so their number does not matter."""


def traced_layer_bytes(decoder: Decoder, *, precision: Precision, autocast: bool = False) -> float:
    """Bytes per token that one layer saves for its backward pass, without checkpointing.

    bytes = (saved(2 layers) - saved(1 layer)) / tokens, and each saved as the difference of batches of 2 and 1

    The two differences take off the embedding, the loss, and tables that do not grow with the tokens. The weights are
    of the products' type, as under FSDP2 and ZeRO, or fp32 under `autocast`, as in plain DDP at 16 bit. Kernels are
    the CPU's: an RMSNorm counts in its unfused form.
    """
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError("torch", "bench")
    if decoder.positions == "rope" and decoder.head_dim % 2:
        raise InputError(f"head_dim {decoder.head_dim} is odd, and rotary positions pair up.", fix="Give an even one.")

    def per_batch(layers: int) -> int:
        cut = decoder.model_copy(update={"layers": layers})
        one, two = (_saved_bytes(cut, precision, autocast=autocast, batch=batch) for batch in (1, 2))
        return two - one

    return (per_batch(2) - per_batch(1)) / SEQ_LEN


def _saved_bytes(decoder: Decoder, precision: Precision, *, autocast: bool, batch: int) -> int:
    """Bytes of all storages that autograd holds after the forward pass, weights not counted."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    from workloads import decoder as decoder_model
    from workloads.architecture import DecoderShape

    architecture = DecoderShape(**decoder.model_copy(update={"max_positions": SEQ_LEN}).model_dump(mode="json"))
    products = {Precision.BF16: torch.bfloat16, Precision.FP16: torch.float16}.get(precision, torch.float32)
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32 if autocast else products)
    try:
        with FakeTensorMode():
            model = decoder_model.Decoder(architecture, seq_len=SEQ_LEN)
            model.init_weights(seed=0)
            tokens = torch.zeros(batch, SEQ_LEN, dtype=torch.long)
            own = {weight.untyped_storage()._cdata for weight in model.parameters()}
            held: dict[int, torch.UntypedStorage] = {}  # held, so that no address is used twice

            def count(tensor: Tensor) -> Tensor:
                storage = tensor.untyped_storage()
                if storage._cdata not in own:
                    held[storage._cdata] = storage
                return tensor

            casts = torch.autocast("cpu", dtype=products) if autocast else contextlib.nullcontext()
            with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor), casts:
                model(tokens, tokens)
            return sum(storage.nbytes() for storage in held.values())
    finally:
        torch.set_default_dtype(usual)
