"""Question about the memory of one training on one kind of device."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import TrainerMemory
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.constants import complete_setup
from planner.speed.memory.device_memory import Parts
from planner.speed.memory.memory import device_parts


@dataclass(frozen=True)
class MemoryQuestion:
    """Training, and the kind and number of devices that run it."""

    setup: TrainingSetup
    """Setup of the training. If its `checkpointing` is None, the answer assumes the kind that recomputes least and fits
    with a chance of 95 %; if none does, the kind that is most likely to fit."""
    accelerator: Accelerator
    devices: int
    trainer: TrainerMemory
    stated: frozenset[str] = frozenset()
    """Names of the settings of `trainer` that are stated. Of the others, all possible values count with weights."""
    traced_layer_bytes: float | None = None
    """Bytes that autograd saves in one layer for each token, if they were traced; None: the formula counts them."""

    @property
    def network(self) -> Architecture:
        """Network that is trained."""
        return complete_setup(self.setup).network

    @property
    def micro_batch(self) -> int:
        """Samples of one forward pass on one device."""
        return complete_setup(self.setup).micro_batch

    @property
    def strategy(self) -> Strategy:
        """Strategy that shards the states."""
        return complete_setup(self.setup).strategy

    @property
    def precision(self) -> Precision:
        """Number format of the products."""
        return complete_setup(self.setup).precision

    @property
    def replicas(self) -> int:
        """Devices over which ZeRO shards states: all that hold the same slice and stage."""
        return self.devices // (self.setup.split.tensor * self.setup.split.pipeline)


def parts_of(question: MemoryQuestion, checkpointing: Checkpointing, micro_batch: int) -> Parts:
    """Return the memory of one device by purpose, in bytes."""
    return device_parts(
        replace(question.setup, checkpointing=checkpointing, micro_batch=micro_batch),
        devices=question.devices,
        trainer=question.trainer,
        traced_layer_bytes=question.traced_layer_bytes,
        device_gib=question.accelerator.training_gib,
    )
