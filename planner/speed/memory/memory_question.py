"""One question about memory: what is trained, how, and on which device."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.hardware.machines import Accelerator
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import TrainerMemory
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.memory import Parts, device_parts


@dataclass(frozen=True)
class MemoryQuestion:
    """What is trained, and on how many of which device."""

    workload: str
    architecture: Architecture
    seq_len: int | None
    micro_batch: int
    accelerator: Accelerator
    devices: int
    strategy: Strategy
    precision: Precision
    checkpointing: Checkpointing | None
    """None: the lightest whose best estimate is not over the device's size."""
    trainer: TrainerMemory
    stated: frozenset[str] = frozenset()
    """Settings of `trainer` that were stated; of the others every likely one counts."""
    traced_layer_bytes: float | None = None
    """What autograd saves in one layer for each token, where it was traced; else the formula counts it."""
    adapters: Adapters | None = None
    """None: all weights are trained."""


def parts_of(question: MemoryQuestion, checkpointing: Checkpointing, micro_batch: int) -> Parts:
    """Return what one device holds, in bytes."""
    return device_parts(
        TrainingSetup(
            workload=question.workload,
            network=question.architecture,
            seq_len=question.seq_len,
            precision=question.precision,
            checkpointing=checkpointing,
            strategy=question.strategy,
            adapters=question.adapters,
            micro_batch=micro_batch,
        ),
        devices=question.devices,
        trainer=question.trainer,
        traced_layer_bytes=question.traced_layer_bytes,
    )
