"""A training as the files of a trainer state it: the network, and how, how long and on what it is trained."""

from __future__ import annotations

from planner.model.base import Count, Positive, Text
from planner.model.network.workload import ArchitectureFile, Checkpointing, Precision, Strategy


class StatedTraining(ArchitectureFile):
    """A network, and everything that the files of its training state; None if they do not state it."""

    stated_precision: Precision | None = None
    stated_seq_len: Count | None = None
    stated_micro_batch: Count | None = None
    strategy: Strategy | None = None
    checkpointing: Checkpointing | None = None
    accumulation: Count | None = None
    global_batch: Count | None = None
    epochs: Positive | None = None
    planned_steps: Count | None = None
    packing: bool | None = None
    accelerator: Text | None = None
    """Accelerator as the files write it."""
    accelerators: Count | None = None
    """Number of accelerators of all nodes."""
    nodes: Count | None = None
    divided: Text | None = None
    """Division of layers over accelerators, in words; None if each has whole layers."""

    def global_batch_on(self, accelerators: int) -> int | None:
        """Return the samples of a step: as stated, otherwise micro-batch x accumulation x accelerators."""
        if self.global_batch is not None or self.stated_micro_batch is None:
            return self.global_batch
        return self.stated_micro_batch * (self.accumulation or 1) * accelerators
