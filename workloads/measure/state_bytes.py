"""The bytes of weights, gradients and optimizer states that a rank really holds: the proof of its strategy."""

from __future__ import annotations

from typing import Dict, Iterable

from torch import Tensor

from ..strategies import Strategy

GRADIENT_BYTES = "gradient_bytes"


def state_bytes(strategy: Strategy) -> Dict[str, int]:
    """Return what this rank holds at this moment; gradients exist between `backward` and `update` alone."""
    held = strategy.state_tensors()
    return {
        "parameter_bytes": bytes_behind(held.parameters),
        GRADIENT_BYTES: bytes_behind(held.gradients),
        "optimizer_bytes": bytes_behind(held.optimizer),
    }


def bytes_behind(tensors: Iterable[Tensor]) -> int:
    """Return the memory that the tensors keep: a view keeps its whole buffer, two views of one keep it once."""
    buffers = (tensor.untyped_storage() for tensor in tensors)
    return sum({buffer.data_ptr(): buffer.nbytes() for buffer in buffers}.values())
