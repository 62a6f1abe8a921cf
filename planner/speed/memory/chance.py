"""The chance that a training fits a device: what estimates miss, and what nobody stated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from planner.model.network.trainer_memory import Kernels, Loss, TrainerMemory
from planner.quantity.formula import exp, formula, log, smallest

SPREADS = ((0.76, 0.045), (0.24, 0.10))
"""Shares and scales of two logistic distributions of ln(measured / estimated): most runs lie close, some do not; nine
in ten within 18 %. Fitted to published peaks, each source left out (docs/accuracy-tables.md, Memory)."""
LIKELY: dict[str, dict[Any, float]] = {
    "loss": {Loss.EAGER: 0.5, Loss.FUSED: 0.2, Loss.COMPILED: 0.1, Loss.CHUNKED: 0.2},
    "kernels": {Kernels.EAGER: 0.5, Kernels.FUSED: 0.5},
    "fused_step": {True: 0.6, False: 0.4},
}
"""What trainers do where nobody says, by setting. Assumed: about what the published runs state that do."""
SURE, OPEN = 0.8, 0.2
"""A training fits with this chance or more, does not with the other or less, and is uncertain between."""
CLOSE, FARTHEST = 1e-5, 3.0
"""How closely a size is looked for, and the largest error, both as logarithms."""


class Likely(NamedTuple):
    """One way in which a trainer may be set, what it needs, and how likely it is."""

    weight: float
    need_gib: float


def alternatives(trainer: TrainerMemory, stated: Iterable[str]) -> list[tuple[float, TrainerMemory]]:
    """Return every way of setting what is not stated, with its weight; the weights add up to 1."""
    given = frozenset(stated)
    unstated = [name for name in LIKELY if name not in given]
    return [
        (
            math.prod(LIKELY[name][value] for name, value in zip(unstated, values, strict=True)),
            trainer.model_copy(update=dict(zip(unstated, values, strict=True))),
        )
        for values in product(*(LIKELY[name] for name in unstated))
    ]


@formula("")
def chance_within(likely: Sequence[Likely], size_gib: float) -> float:
    """Return the chance that what is needed is at most a size: sum of weight x chance_of_error(ln(size / need))."""
    return sum(one.weight * chance_of_error(log(size_gib / one.need_gib)) for one in likely)


def chance_of_error(log_ratio: float) -> float:
    """Return the chance that ln(measured / estimated) is at most this: sum of share / (1 + exp(-x / scale))."""
    return sum(share / (1 + exp(smallest(700.0, -log_ratio / scale))) for share, scale in SPREADS)


def size_for(likely: Sequence[Likely], chance: float) -> float:
    """Return the size within which it lies with a chance."""
    needs = [math.log(one.need_gib) for one in likely]
    low, high = min(needs) - FARTHEST, max(needs) + FARTHEST
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if chance_within(likely, math.exp(middle)) > chance else (middle, high)
    return math.exp((low + high) / 2)


@cache
def factor_for(chance: float) -> float:
    """Return the size within which one estimate lies with a chance, as a multiple of it."""
    return size_for([Likely(1.0, 1.0)], chance)
