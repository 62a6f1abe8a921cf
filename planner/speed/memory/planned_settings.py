"""Trainer settings that decide memory, as stated or by default, and the chance to fit under those not stated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import Attention, Kernels, Loss, TrainerMemory, TrainerSettings
from planner.model.network.workload import Checkpointing
from planner.quantity.formula import exp, formula, log, smallest, stated
from planner.scenario.trainers import OneDeviceRecipe, habits_of
from planner.speed.physics.kernels import affirmed, planned_words

IN_CHUNKS = ("liger", "unsloth", "cut cross", "chunked loss", "chunked cross")
"""Names of kernels whose loss never stores all logits, such as Liger's and cut cross-entropy."""
FUSING = ("liger", "unsloth", "torch.compile", "transformerengine", "xla", "cuda/c")
"""Names of kernels that fuse norms, rotary positions and activations."""


def planned_settings(settings: TrainerSettings, framework: str | None, *, one_device: bool = False) -> TrainerSettings:
    """Return a trainer's known settings: stated ones, then those of its named kernels and its habits (trainers.py).

    `one_device`: all weights are trained on a single device (`takes_one_device_recipe`).
    """
    if framework is None:
        return settings
    habits, recipe = habits_of(framework), _recipe_of(framework, one_device=one_device)
    kernels = affirmed(*planned_words(framework))
    loss = None if habits is None else habits.loss
    if any(word in kernels for word in IN_CHUNKS):
        loss = Loss.CHUNKED
    fused = Kernels.FUSED if any(word in kernels for word in FUSING) else None
    defaults = TrainerSettings(
        loss=loss,
        kernels=fused or (None if habits is None else habits.kernels),
        attention=None if habits is None else habits.attention,
        weights=None if habits is None else habits.weights,
        optimizer=None if recipe is None else recipe.optimizer,
    )
    return settings.over(defaults)


def planned_trainer_memory(
    settings: TrainerSettings, framework: str | None, *, one_device: bool = False
) -> TrainerMemory:
    """Return the complete trainer: stated settings, then the framework's, then common defaults."""
    known = planned_settings(settings, framework, one_device=one_device)
    return known.trainer.model_copy(update=_flags(settings, framework, one_device=one_device))


def known_names(settings: TrainerSettings, framework: str | None, *, one_device: bool = False) -> frozenset[str]:
    """Return the names of the trainer's fields that the plan or its framework determines."""
    known = planned_settings(settings, framework, one_device=one_device)
    return frozenset(known.stated) | frozenset(_flags(settings, framework, one_device=one_device))


def _recipe_of(framework: str | None, *, one_device: bool) -> OneDeviceRecipe | None:
    habits = None if framework is None or not one_device else habits_of(framework)
    return None if habits is None else habits.one_device


def _flags(settings: TrainerSettings, framework: str | None, *, one_device: bool) -> dict[str, bool]:
    """Return a trainer's flags, which no plan states. A recipe's flags hold only with the recipe's own optimizer."""
    habits = None if framework is None else habits_of(framework)
    recipe = _recipe_of(framework, one_device=one_device)
    recipe_flags = {} if recipe is None or settings.optimizer not in (None, recipe.optimizer) else recipe.flags
    return ({} if habits is None else habits.flags) | recipe_flags


def assumed_attention(settings: TrainerSettings, framework: str | None, accelerator: Accelerator) -> TrainerSettings:
    """Return the settings with eager attention if neither plan nor trainer determines it and the card is too old.

    FlashAttention has kernels from Ampere on, and software on older cards is mostly as old as they are.
    """
    if planned_settings(settings, framework).attention is not None or accelerator.has_flash_attention:
        return settings
    return settings.model_copy(update={"attention": Attention.EAGER})


def usual_checkpointing(network: Architecture, framework: str | None) -> Checkpointing | None:
    """Return the checkpointing of a framework's recipes for text networks; None if they differ or are not known."""
    habits = None if framework is None or network.sample != "tokens" else habits_of(framework)
    return None if habits is None else habits.checkpointing


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
WEIGHT_SOURCE = "chance of unstated settings: assumed (SETTING_CHANCES in planner/speed/memory/planned_settings.py)"
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
