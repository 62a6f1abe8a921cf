"""Fields of a report that neither its source nor a script that it names states: each likely value counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

from planner.model.network.workload import Checkpointing, Strategy

ASSUMED_SHARE = 0.5
"""Weight of the value that is assumed; the others share the rest."""
OTHERS: Mapping[str, Mapping[Any, tuple[Any, ...]]] = {
    "checkpointing": {Checkpointing.FULL: (Checkpointing.NONE,), Checkpointing.NONE: (Checkpointing.FULL,)},
    "strategy": {
        Strategy.DDP: (Strategy.ZERO2, Strategy.ZERO3),
        Strategy.ZERO2: (Strategy.DDP, Strategy.ZERO3),
        Strategy.ZERO3: (Strategy.ZERO2,),
    },
    "micro_batch": {1: (2, 4)},
    "gpu": {"A100-80GB-SXM": ("A100-40GB-SXM",)},
}
"""Of each field and the value that is assumed, what else it may well be: recomputed or not, sharded more or less, a
larger micro-batch, the same card with less memory."""


def settings_of(values: Mapping[str, Any]) -> list[tuple[float, dict[str, Any]]]:
    """Return every likely setting of fields with their assumed values, with its weight; the weights add up to 1."""
    fields = [_weighted(name, value) for name, value in values.items()]
    return [
        (math.prod(weight for weight, _ in chosen), dict(zip(values, (value for _, value in chosen), strict=True)))
        for chosen in product(*fields)
    ]


def _weighted(name: str, assumed: Any) -> list[tuple[float, Any]]:
    others = OTHERS[name][assumed]
    return [(ASSUMED_SHARE, assumed), *(((1 - ASSUMED_SHARE) / len(others), other) for other in others)]
