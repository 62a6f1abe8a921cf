"""Converts pixels for an image model: bytes become numbers on the device."""

from __future__ import annotations

from torch import Tensor

from ..models.layers import compute_type

MIDDLE, SPREAD = 127.5, 64.0


def as_numbers(images: Tensor, weight: Tensor) -> Tensor:
    """Turn bytes into numbers about zero, in the type and memory layout of the first weight's input."""
    return (images.to(compute_type(weight)) - MIDDLE) / SPREAD
