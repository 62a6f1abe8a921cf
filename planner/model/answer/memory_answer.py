"""Answer of `planner memory`: the contents of an accelerator's memory, and what would make them fit."""

from __future__ import annotations

from typing import Literal

from planner.model.base import Frozen
from planner.model.network.trainer_memory import Loss, TrainerMemory
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.model.quantity import FormulaUsed, Quantity


class MemoryWay(Frozen):
    """The training with one kind of checkpointing: its need, and whether the device has room."""

    checkpointing: Checkpointing
    total_gib: Quantity
    fits: Literal["yes", "no", "uncertain"] | None
    """yes means a chance of 0.8 or more, no of 0.2 or less; null if the device's size is unknown."""
    largest_micro_batch: int | None
    """Largest micro-batch that fits with a chance of 0.8; 0 if none does; null if the device's size is unknown."""
    chance: float | None = None
    """Chance that it fits; null if the device's size is unknown, or in an answer stored before 0.2.0."""


class MemoryRemedy(Frozen):
    """A change on top of those before it, and the chance to fit after it."""

    change: str
    option: str
    """Option of `planner memory` that shows it."""
    costs: str
    chance: float


class MemoryDocument(Frozen):
    """`planner memory --json`: the memory of one device at its fullest moment. `total_gib` is the sum of four parts.

    Their ranges, and the chance, include settings that were not stated (`unstated`); the values are those of `trainer`.
    """

    schema_version: Literal[1] = 1
    kind: Literal["memory"] = "memory"
    answer_id: str | None = None
    """Hash of this document and the version. `planner show ID` prints it again. Null in an older answer."""
    workload: str
    parameters: int
    trained_parameters: int | None = None
    """Number of trained parameters, which is smaller with adapters."""
    accelerator: str
    accelerators: int
    strategy: Strategy
    split: str = ""
    """Degrees of tensor, pipeline and context parallelism, as `tensor 2, pipeline 4`; empty if the network is whole."""
    precision: Precision
    seq_len: int | None
    """Tokens of a sample; null if it is an image."""
    micro_batch: int
    checkpointing: Checkpointing
    loss: Loss
    states_gib: Quantity
    activations_gib: Quantity
    logits_gib: Quantity
    buffers_gib: Quantity
    """Gathered layers, gradient buckets or 16-bit weight copies, and the device's context."""
    total_gib: Quantity
    hbm_gib: Quantity | None
    fits: Literal["yes", "no", "uncertain"] | None
    largest_micro_batch: int | None
    ways: tuple[MemoryWay, ...]
    """All kinds of checkpointing, the lightest first."""
    chance: float | None = None
    """Chance that it fits."""
    fullest_at: str | None = None
    """Fullest moment of a step: loss, backward, gradients or step."""
    trainer: TrainerMemory | None = None
    unstated: tuple[str, ...] = ()
    """Settings of `trainer` that were assumed."""
    remedies: tuple[MemoryRemedy, ...] = ()
    """Changes that would make it fit, the cheapest first; empty if it fits with nine in ten."""
    formulas: tuple[FormulaUsed, ...] = ()
    """Formulas of the total and of the chance to fit, which is a mixture over settings that are not stated; empty in an
    older answer.
    """
    notes: tuple[str, ...]
