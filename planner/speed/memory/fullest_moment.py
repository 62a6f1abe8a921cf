"""The moments of a step, and the fullest of them: what a device must hold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from planner.quantity.formula import formula
from planner.speed.memory.activations import Saved
from planner.speed.memory.constants import FITTED
from planner.speed.memory.states import States

GIB = 2**30
CONTEXT_GIB = 1.0
"""CUDA context and NCCL channels. Published runs show 1 to 3 GiB, with what the allocator cannot use."""


class Phase(StrEnum):
    """The moments of a step at which a device can be fullest."""

    LOSS = "loss"
    """All activations, and the logits."""
    BACKWARD = "backward"
    """All activations, and the layer that is computed again."""
    GRADIENTS = "gradients"
    """All gradients, at the end of the backward pass."""
    STEP = "step"
    """All gradients, and what the optimizer's step forms."""
    GENERATION = "generation"
    """Weights and moments, beside an engine that is awake."""


@dataclass(frozen=True)
class Parts:
    """Bytes on one device, at one micro-batch."""

    states: States
    saved: Saved
    logits: float
    buffers: float
    slack: float
    """Reserved by the allocator / taken by tensors."""
    keeps_gradients: bool = False
    """Gradients stay allocated between steps (`keeps_gradients`)."""
    engine_training: float = 0.0
    """Of an engine that generates on the same device, while it trains."""
    engine_generating: float = 0.0
    """Of the same while it generates."""

    @formula("GiB")
    def fullest(self, *, accumulates: bool = False) -> Memory:
        """Return the moment with the largest sum.

        loss: weights + moments + kept + logits + buffers; backward: working for logits; gradients: all states + the
        last layer + buffers; step: all states + what the step forms; generation: weights + moments. Gradients count at
        the loss too where they are kept between steps, and where those of earlier micro-batches are there
        (`accumulates`). Under DistributedDataParallel these are two sets: it accumulates beside its buckets. An engine
        on the same device counts with the buffers.
        """
        states, saved = self.states, self.saved
        sets = int(accumulates) + int(self.keeps_gradients)
        before = states.weights + states.moments + sets * states.gradients
        beside_buckets = states.gradients if sets > 1 else 0.0
        moments = {
            Phase.LOSS: (before, saved.kept, self.logits, self.buffers),
            Phase.BACKWARD: (before, saved.kept + saved.working, 0.0, self.buffers),
            Phase.GRADIENTS: (states.held + beside_buckets, saved.last, 0.0, self.buffers),
            Phase.STEP: (states.held + states.step, 0.0, 0.0, 0.0),
            Phase.GENERATION: (states.weights + states.moments, 0.0, 0.0, 0.0),
        }
        engine = dict.fromkeys(Phase, self.engine_training) | {Phase.GENERATION: self.engine_generating}
        phase = max(moments, key=lambda name: self.slack * sum(moments[name]) + engine[name])
        of_states, activations, logits, buffers = (part / GIB for part in moments[phase])
        spare = (self.slack - 1) * (of_states + activations + logits + buffers) + CONTEXT_GIB
        if engine[phase]:
            spare = spare + engine[phase] / GIB
        return Memory(of_states, activations, logits, buffers + spare, phase, self.slack)


@dataclass(frozen=True)
class Memory:
    """GiB on each device at its fullest moment."""

    states_gib: float
    activations_gib: float
    logits_gib: float
    buffers_gib: float
    """Communication, copies of weights and those that adapters materialise; what the allocator loses; the context."""
    phase: Phase = Phase.LOSS
    slack: float = FITTED.slack

    @property
    def total_gib(self) -> float:
        """Sum of the parts: what the device must have; the middle of a range (chance.py)."""
        return self.states_gib + self.activations_gib + self.logits_gib + self.buffers_gib

    @property
    def tensors_gib(self) -> float:
        """What tensors take, without allocator and context: `torch.cuda.max_memory_allocated`."""
        return (self.total_gib - CONTEXT_GIB) / self.slack
