"""One question about memory: what is trained, how, and on which device."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import TrainerMemory
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.fullest_moment import Parts
from planner.speed.memory.held_setup import held_setup
from planner.speed.memory.memory import device_parts


@dataclass(frozen=True)
class MemoryQuestion:
    """What is trained, and on how many of which device."""

    setup: TrainingSetup
    """Without `checkpointing`: the lightest that fits with 95 %, else what fits most likely."""
    accelerator: Accelerator
    devices: int
    trainer: TrainerMemory
    stated: frozenset[str] = frozenset()
    """Settings of `trainer` that were stated; of the others every likely one counts."""
    traced_layer_bytes: float | None = None
    """What autograd saves in one layer for each token, where it was traced; else the formula counts it."""

    @property
    def network(self) -> Architecture:
        """The network that is trained."""
        return held_setup(self.setup).network

    @property
    def micro_batch(self) -> int:
        """Samples of one forward pass on one device."""
        return held_setup(self.setup).micro_batch

    @property
    def strategy(self) -> Strategy:
        """How states are shared out."""
        return held_setup(self.setup).strategy

    @property
    def precision(self) -> Precision:
        """The format of the products."""
        return held_setup(self.setup).precision

    @property
    def replicas(self) -> int:
        """Devices over which ZeRO shares states out, a slice and a stage each having its own."""
        return self.devices // (self.setup.split.tensor * self.setup.split.pipeline)


def parts_of(question: MemoryQuestion, checkpointing: Checkpointing, micro_batch: int) -> Parts:
    """Return what one device holds, in bytes."""
    return device_parts(
        replace(question.setup, checkpointing=checkpointing, micro_batch=micro_batch),
        devices=question.devices,
        trainer=question.trainer,
        traced_layer_bytes=question.traced_layer_bytes,
        device_gib=question.accelerator.training_gib,
    )
