"""Strategies by name: one interface (base.py), imported only when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Dict, Tuple, Type

from ..strategies.base import StateTensors, TrainingStrategy

__all__ = ["StateTensors", "TrainingStrategy", "load"]

CLASSES: Dict[str, Tuple[str, str]] = {
    "ddp": ("ddp", "DistributedDataParallelStrategy"),
    "fsdp2": ("fsdp2", "FullyShardedStrategy"),
    "zero1": ("zero", "Zero1Strategy"),
    "zero2": ("zero", "Zero2Strategy"),
    "zero3": ("zero", "Zero3Strategy"),
}
"""Module and class of each strategy. Its libraries may be missing where another one runs."""


def load(name: str) -> Type[TrainingStrategy]:
    """Return the strategy's class. The spec has already refused unknown names."""
    module, strategy = CLASSES[name]
    found: Type[TrainingStrategy] = getattr(import_module(f"{__name__}.{module}"), strategy)
    return found
