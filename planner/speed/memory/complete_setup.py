"""Fields of a training setup that decide memory, with defaults for those that are not stated."""

from __future__ import annotations

from typing import NamedTuple

from planner.model.network.architecture import Architecture
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.training_setup import TrainingSetup


class CompleteSetup(NamedTuple):
    """Fields that decide a device's memory; none of them is None."""

    network: Architecture
    micro_batch: int
    strategy: Strategy
    precision: Precision
    checkpointing: Checkpointing


def complete_setup(setup: TrainingSetup) -> CompleteSetup:
    """Return the fields that decide memory. Defaults: micro-batch 1, ddp, bf16, no checkpointing."""
    assert setup.network is not None, "memory cannot be estimated without a network"
    return CompleteSetup(
        setup.network,
        setup.micro_batch or 1,
        setup.strategy or Strategy.DDP,
        setup.precision or Precision.BF16,
        setup.checkpointing or Checkpointing.NONE,
    )
