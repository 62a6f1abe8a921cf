"""Low-rank adapters: two small trained matrices beside each target, and everything else frozen (Hu et al. 2021)."""

from __future__ import annotations

from typing import Literal

from planner.model.base import Count, Frozen

AdapterTarget = Literal["query", "key", "value", "out", "gate", "up", "down"]


class Adapters(Frozen):
    """Their rank, and the linear maps of every layer that have them."""

    rank: Count
    targets: tuple[AdapterTarget, ...]
