"""Strategies by name: one interface (base.py), one file each, imported only when asked for."""

from __future__ import annotations

from typing import Type

from ..strategies.base import StateTensors, TrainingStrategy

__all__ = ["StateTensors", "TrainingStrategy", "load"]


def load(name: str) -> Type[TrainingStrategy]:
    """Return the strategy's class. The spec has already refused unknown names."""
    if name == "ddp":
        from ..strategies.ddp import DistributedDataParallelStrategy

        return DistributedDataParallelStrategy
    if name == "fsdp2":
        from ..strategies.fsdp2 import FullyShardedStrategy

        return FullyShardedStrategy
    if name == "zero1":
        from ..strategies.zero1 import Zero1Strategy

        return Zero1Strategy
    if name == "zero2":
        from ..strategies.zero2 import Zero2Strategy

        return Zero2Strategy
    if name == "zero3":
        from ..strategies.zero3 import Zero3Strategy

        return Zero3Strategy
    raise KeyError(name)
