"""Pixels as an image model takes them: bytes become numbers on the device."""

from __future__ import annotations

from torch import Tensor

from ..models.layers import compute_type

MIDDLE, SPREAD = 127.5, 64.0


def as_numbers(images: Tensor, weight: Tensor) -> Tensor:
    """Turn bytes into numbers about zero, in the type and the memory layout in which they meet the first weight."""
    return (images.to(compute_type(weight)) - MIDDLE) / SPREAD
