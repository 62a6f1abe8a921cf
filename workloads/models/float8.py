"""Float8 training: which linear maps compute in 8-bit floats (torchao), and what a machine needs for it."""

from __future__ import annotations

import importlib.util
from typing import Optional, Tuple

import torch
from torch import nn

from ..contract import failure
from ..contract.failure import RunError
from ..contract.spec import FLOAT8_MULTIPLE
from ..models.base import Model

LEAST_CAPABILITY = (8, 9)  # 8.9 is Ada, 9.0 Hopper: the first two with 8-bit tensor cores


def problem(device_type: str, capability: Optional[Tuple[int, int]]) -> Optional[str]:
    """Return what is missing here for float8; None if nothing is. `capability` is the CUDA device's."""
    if device_type != "cuda" or capability is None:
        return (
            "precision float8 needs a CUDA device of compute capability 8.9 or more (RTX 40, L4, L40S, H100 and "
            "newer), and this device is none. Take bf16 here."
        )
    if capability < LEAST_CAPABILITY:
        present = ".".join(str(number) for number in capability)
        return (
            "precision float8 needs compute capability 8.9 or more (RTX 40, L4, L40S, H100 and newer), and this device "
            f"has {present}. Take bf16 here."
        )
    if importlib.util.find_spec("torchao") is None:
        return "precision float8 needs torchao, and it is not installed. Run: pip install torchao"
    return None


def problem_here() -> Optional[str]:
    """Return what is missing on this machine's first device."""
    if not torch.cuda.is_available():
        return problem("cpu", None)
    return problem("cuda", torch.cuda.get_device_capability(0))


def use_float8(model: Model) -> None:
    """Let the blocks' linear maps compute in float8, forward and backward. Weights keep their type.

    Each tensor has one scale, found anew in every product (torchao's default, "tensorwise dynamic"). Embedding, norms,
    attention and the head stay in bf16, as in torchtitan.
    """
    missing = problem_here()
    if missing is not None:
        raise RunError(failure.ERROR, missing)
    from torchao.float8 import convert_to_float8_training

    for block in model.blocks:
        convert_to_float8_training(block, module_filter_fn=_can_be_float8)


def _can_be_float8(module: nn.Module, name: str) -> bool:
    del name
    sides = (module.in_features, module.out_features) if isinstance(module, nn.Linear) else (1,)
    return all(side % FLOAT8_MULTIPLE == 0 for side in sides)
