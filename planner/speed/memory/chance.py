"""The chance that a training fits a device, from the error of estimates and from settings that are not stated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from planner.model.network.trainer_memory import Kernels, Loss, TrainerMemory
from planner.quantity.formula import exp, formula, log, smallest, stated

SPREADS = {"usual": (0.76, 0.045), "large": (0.24, 0.10)}
"""Shares and widths of two logistic distributions of ln(measured / estimated).

Most runs lie close to the estimate and some do not; nine in ten lie within 18 %. Fitted to published peaks, with each
source left out in turn (docs/accuracy-tables.md, Memory).
"""
SPREADS_SOURCE = "fitted to published memory peaks (docs/accuracy-tables.md, Memory)"
SETTING_CHANCES: dict[str, dict[Any, float]] = {
    "loss": {Loss.EAGER: 0.5, Loss.FUSED: 0.2, Loss.COMPILED: 0.1, Loss.CHUNKED: 0.2},
    "kernels": {Kernels.EAGER: 0.5, Kernels.FUSED: 0.5},
    "fused_step": {True: 0.6, False: 0.4},
}
"""Chances of a setting's values if it is not stated. Assumed: about the shares in published runs that state it."""
WEIGHT_SOURCE = "chance of unstated settings: assumed (SETTING_CHANCES in planner/speed/memory/chance.py)"
FITS_FROM, FAILS_UP_TO = 0.8, 0.2
"""Chances from which a training counts as fitting, and up to which it does not; between them it is uncertain."""
LOG_TOLERANCE, LARGEST_LOG_ERROR = 1e-5, 3.0
"""Width of the last interval when a size is searched for, and the largest error that is considered, as logarithms."""


class PossibleNeed(NamedTuple):
    """Memory that one possible configuration of the trainer needs, in GiB, and the chance of that configuration."""

    weight: float
    need_gib: float


def alternatives(trainer: TrainerMemory, stated: Iterable[str]) -> list[tuple[float, TrainerMemory]]:
    """Return every combination of the settings that are not stated, with its chance; the chances add up to 1."""
    known = frozenset(stated)
    unstated = [name for name in SETTING_CHANCES if name not in known]
    return [
        (
            math.prod(SETTING_CHANCES[name][value] for name, value in zip(unstated, values, strict=True)),
            trainer.model_copy(update=dict(zip(unstated, values, strict=True))),
        )
        for values in product(*(SETTING_CHANCES[name] for name in unstated))
    ]


@formula(
    "",
    inputs={"size_gib": ("GiB", "memory of one device that a training can use (catalogs/hardware/accelerators.csv)")},
)
def chance_within(likely: Sequence[PossibleNeed], size_gib: float) -> float:
    """Return the chance that the needed memory is at most a size: sum of weight x chance_of_error(ln(size / need))."""
    return sum(need.weight * chance_of_error(log(size_gib / need.need_gib)) for need in likely)


def chance_of_error(log_ratio: float) -> float:
    """Return the chance that ln(measured / estimated) is at most x: sum of share / (1 + exp(-x / width))."""
    chance = 0.0
    for kind, spread in SPREADS.items():
        share = stated(f"share_of_{kind}_errors", spread[0], "", SPREADS_SOURCE)
        width = stated(f"width_of_{kind}_errors", spread[1], "", SPREADS_SOURCE)
        chance += share / (1 + exp(smallest(700.0, -log_ratio / width)))
    return chance


def size_for(likely: Sequence[PossibleNeed], chance: float) -> float:
    """Return the size in GiB that suffices with a chance, found by bisection of `chance_within`."""
    needs = [math.log(need.need_gib) for need in likely]
    low, high = min(needs) - LARGEST_LOG_ERROR, max(needs) + LARGEST_LOG_ERROR
    while high - low > LOG_TOLERANCE:
        middle = (low + high) / 2
        low, high = (low, middle) if chance_within(likely, math.exp(middle)) > chance else (middle, high)
    return math.exp((low + high) / 2)


@cache
def factor_for(chance: float) -> float:
    """Return the size that suffices with a chance, as a multiple of a single estimate."""
    return size_for([PossibleNeed(1.0, 1.0)], chance)
