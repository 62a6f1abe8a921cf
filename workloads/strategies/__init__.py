"""Knows the strategies by name: one interface (base.py), one file each, imported only when asked for."""

from __future__ import annotations

from typing import Type

from workloads.strategies.base import Strategy

__all__ = ["Strategy", "load"]


def load(name: str) -> Type[Strategy]:
    """Return the strategy's class; the spec has already refused unknown names."""
    if name == "ddp":
        from workloads.strategies.ddp import DistributedDataParallelStrategy

        return DistributedDataParallelStrategy
    raise KeyError(name)
