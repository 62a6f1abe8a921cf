"""Meaning of "fp32", "tf32", "bf16", "fp16" and "float8": global flags, autocast and loss scaling.

Master weights and optimizer states stay fp32 in every precision. bf16 and fp16 change the type of the matrix products,
by autocast or by the strategy's own means. float8 is bf16 whose linear maps compute in 8 bits (float8.py). fp32 is
really fp32: TF32 is switched off, whatever this torch's default.
"""

from __future__ import annotations

import contextlib
from typing import ContextManager, Optional

import torch

LOW_TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "float8": torch.bfloat16}


class PrecisionContexts:
    """Contexts that one precision needs on one kind of device."""

    def __init__(self, name: str, device: torch.device) -> None:
        self.name = name
        self._device_type = device.type
        self.low_type: Optional[torch.dtype] = LOW_TYPES.get(name)
        """16-bit type of the matrix products (for float8, of those not in 8 bits); None if they are fp32 or TF32."""
        # fp16 gradients underflow without scaling; a disabled scaler passes everything through unchanged.
        self.scaler = torch.amp.GradScaler(device.type, enabled=name == "fp16")

    def set_global_flags(self) -> None:
        """Allow TF32 exactly when the spec says tf32."""
        torch.set_float32_matmul_precision("high" if self.name == "tf32" else "highest")
        torch.backends.cudnn.allow_tf32 = self.name == "tf32"

    def autocast(self) -> ContextManager[object]:
        """Return the context of a forward pass."""
        if self.low_type is None:
            return contextlib.nullcontext()
        return torch.autocast(self._device_type, dtype=self.low_type)


def tf32_allowed() -> bool:
    """Return whether torch, not the spec, allows fp32 matrix products to run as TF32."""
    return torch.get_float32_matmul_precision() != "highest"
