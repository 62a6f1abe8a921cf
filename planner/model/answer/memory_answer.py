"""What `planner memory` answers: what lies in an accelerator's memory, and what would make it fit."""

from __future__ import annotations

from typing import Literal

from planner.model.answer.formula_used import FormulaUsed
from planner.model.base import Frozen
from planner.model.network.trainer_memory import Loss, TrainerMemory
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.model.quantity import Quantity


class MemoryWay(Frozen):
    """The same training with one kind of checkpointing: what it needs, and whether the device holds it."""

    checkpointing: Checkpointing
    total_gib: Quantity
    fits: Literal["yes", "no", "uncertain"] | None
    """yes: with a chance of 0.8 or more; no: of 0.2 or less. Null: the device's size is not known."""
    largest_micro_batch: int | None
    """That fits with a chance of 0.8; 0: none does. Null: the device's size is not known."""
    chance: float | None = None
    """That it fits. Null: the device's size is not known, or an answer stored before 0.2.0."""


class MemoryRemedy(Frozen):
    """A change on top of those before it, and the chance to fit after it."""

    change: str
    option: str
    """Of `planner memory`, to see it."""
    costs: str
    chance: float


class MemoryDocument(Frozen):
    """`planner memory --json`: what one device must hold at its fullest moment; `total_gib` is the sum of four parts.

    Their ranges, and the chance, hold what was not stated (`unstated`) as well; the values are of `trainer`.
    """

    schema_version: Literal[1] = 1
    kind: Literal["memory"] = "memory"
    answer_id: str | None = None
    """Of this document and the version; `planner show ID` prints it again. Null in an older answer."""
    workload: str
    parameters: int
    trained_parameters: int | None = None
    """Fewer than all of them where adapters are trained."""
    accelerator: str
    accelerators: int
    strategy: Strategy
    split: str = ""
    """Degrees of tensor, pipeline and context parallelism, as `tensor 2, pipeline 4`; empty: the network is whole."""
    precision: Precision
    seq_len: int | None
    """Null where a sample is an image."""
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
    """Every kind of checkpointing, the lightest first."""
    chance: float | None = None
    """That it fits."""
    fullest_at: str | None = None
    """The moment of a step: loss, backward, gradients or step."""
    trainer: TrainerMemory | None = None
    unstated: tuple[str, ...] = ()
    """Settings of `trainer` that were assumed."""
    remedies: tuple[MemoryRemedy, ...] = ()
    """What would make it fit, the cheapest first; empty where it fits with nine in ten."""
    formulas: tuple[FormulaUsed, ...] = ()
    """Of the total and of the chance to fit, which is a mixture over what nobody stated; empty in an older answer."""
    notes: tuple[str, ...]
