"""Bytes of weights, gradients and optimizer states that a rank really holds: the proof of its strategy."""

from __future__ import annotations

from typing import Dict, Iterable

from torch import Tensor

from ..strategies import TrainingStrategy

GRADIENT_BYTES = "gradient_bytes"


def state_bytes(strategy: TrainingStrategy) -> Dict[str, int]:
    """Return what this rank holds now. Gradients exist only between `backward` and `update`."""
    state = strategy.state_tensors()
    return {
        "parameter_bytes": bytes_behind(state.parameters),
        GRADIENT_BYTES: bytes_behind(state.gradients),
        "optimizer_bytes": bytes_behind(state.optimizer),
    }


def bytes_behind(tensors: Iterable[Tensor]) -> int:
    """Return the memory that the tensors keep. A view keeps its whole buffer; two views of one buffer keep it once."""
    buffers = (tensor.untyped_storage() for tensor in tensors)
    return sum({buffer.data_ptr(): buffer.nbytes() for buffer in buffers}.values())
