"""The fields of a training setup that decide memory, complete: what is not stated is what is usual."""

from __future__ import annotations

from typing import NamedTuple

from planner.model.network.architecture import Architecture
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.training_setup import TrainingSetup


class HeldSetup(NamedTuple):
    """What a device holds in memory depends on these, and each has a value."""

    network: Architecture
    micro_batch: int
    strategy: Strategy
    precision: Precision
    checkpointing: Checkpointing


def held_setup(setup: TrainingSetup) -> HeldSetup:
    """Return the fields that decide memory. Unless stated: micro-batch 1, ddp, bf16, nothing recomputed."""
    assert setup.network is not None, "without a network its memory is not known"
    return HeldSetup(
        setup.network,
        setup.micro_batch or 1,
        setup.strategy or Strategy.DDP,
        setup.precision or Precision.BF16,
        setup.checkpointing or Checkpointing.NONE,
    )
