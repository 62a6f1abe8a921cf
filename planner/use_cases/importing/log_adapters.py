"""Finds the adapters of a logged training: stated by its files, or derived from the count of trained parameters."""

from __future__ import annotations

from planner.adapters.trainer_logs.trainer_log import Facts
from planner.model.network.adapters import Adapters, AdapterTarget, FrozenFormat, targets_of
from planner.model.network.architecture import Architecture
from planner.network.flops import parameters
from planner.network.lora_memory import EVERY, USUAL, adapted

MOST_TRAINED = 0.5
"""Share of all parameters from which a count means full training, or training with some frozen layers."""
ATTENTION: tuple[AdapterTarget, ...] = ("query", "key", "value", "out")
TRIED: tuple[tuple[AdapterTarget, ...], ...] = (EVERY, ATTENTION, ("query", "value"), ("query", "key", "value"))
"""Sets of linear maps that trainers usually adapt, most usual first."""
USUAL_RANKS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512)


def adapters_of_log(facts: Facts, network: Architecture | None) -> Adapters | None:
    """Return the adapters; None if all weights are trained or nothing indicates adapters."""
    trained = facts.trainable if network is not None and network.sample == "tokens" else None
    if trained is not None and network is not None and trained > MOST_TRAINED * parameters(network):
        return None
    if not facts.lora_rank and not facts.quantized and trained is None:
        return None
    found = _stated(facts)
    if trained is not None and network is not None and (not facts.lora_rank or not facts.lora_targets):
        found = _counted(network, trained, facts) or found
    return found.model_copy(update={"frozen": FrozenFormat.NF4}) if facts.quantized else found


def _stated(facts: Facts) -> Adapters:
    targets = targets_of(facts.lora_targets or ())
    return Adapters(rank=facts.lora_rank or USUAL.rank, targets=targets or USUAL.targets)


def _counted(network: Architecture, trained: int, facts: Facts) -> Adapters | None:
    """Return adapters with rank x (inputs + outputs) over their maps = trained parameters; None if no set matches."""
    stated = targets_of(facts.lora_targets or ())
    for targets in (stated,) if stated else TRIED:
        rank, left = divmod(trained, max(1, adapted(network, Adapters(targets=targets)).numbers))
        if left == 0 and rank == (facts.lora_rank or rank) and rank in (*USUAL_RANKS, facts.lora_rank):
            return Adapters(rank=rank, targets=targets)
    return None
