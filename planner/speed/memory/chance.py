"""The chance that a training fits a device: what estimates miss, and what nobody stated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

from planner.model.network.trainer_memory import Kernels, Loss, TrainerMemory

SPREAD = 0.055
"""Scale of the logistic distribution of ln(measured / estimated): nine in ten within 17 %. Fitted to published peaks,
each source left out (docs/accuracy.md, Memory)."""
LIKELY: dict[str, dict[Any, float]] = {
    "loss": {Loss.EAGER: 0.5, Loss.FUSED: 0.2, Loss.COMPILED: 0.1, Loss.CHUNKED: 0.2},
    "kernels": {Kernels.EAGER: 0.5, Kernels.FUSED: 0.5},
    "fused_step": {True: 0.6, False: 0.4},
}
"""What trainers do where nobody says, by setting. Assumed: about what the published runs state that do."""
SURE, OPEN = 0.8, 0.2
"""A training fits with this chance or more, does not with the other or less, and is uncertain between."""
CLOSE = 1e-4
"""Of a quantile, as a share of itself."""


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


def chance_within(likely: Sequence[Likely], size_gib: float) -> float:
    """Return the chance that what is needed is at most a size.

    sum of weight x 1 / (1 + exp(-ln(size / need) / SPREAD)): logistic in the logarithm, heavier in its tails than the
    normal one.
    """
    return sum(one.weight / (1 + math.exp(min(700.0, math.log(one.need_gib / size_gib) / SPREAD))) for one in likely)


def size_for(likely: Sequence[Likely], chance: float) -> float:
    """Return the size within which it lies with a chance."""
    low, high = (
        pick(one.need_gib for one in likely) * math.exp(SPREAD * math.log(chance / (1 - chance))) for pick in (min, max)
    )
    return _crossing(lambda size: chance_within(likely, size) - chance, low, high)


def _crossing(rises: Callable[[float], float], low: float, high: float) -> float:
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if rises(middle) > 0 else (middle, high)
    return (low + high) / 2


def with_chance(need_gib: float, chance: float) -> float:
    """Return the size within which one estimate lies with a chance: need x (chance / (1 - chance))^SPREAD."""
    return need_gib * math.exp(SPREAD * math.log(chance / (1 - chance)))
