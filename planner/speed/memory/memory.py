"""What one device must hold while it trains: the fullest moment of a step."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture, ImageModel
from planner.model.network.trainer_memory import USUAL_TRAINER, TrainerMemory
from planner.model.network.workload import Precision, Strategy
from planner.network.activations import bytes_per_number
from planner.network.lora_memory import SHARDS_WEIGHTS
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.activations import Saved, saved_per_sample
from planner.speed.memory.buffers import buffer_bytes, casts, has_wide_stream
from planner.speed.memory.constants import FITTED, MemoryConstants
from planner.speed.memory.held_setup import held_setup
from planner.speed.memory.states import States, device_states

GIB = 2**30
CONTEXT_GIB = 1.0
"""CUDA context and NCCL channels. Published runs show 1 to 3 GiB, with what the allocator cannot use."""
LAST_NORM_BYTES = 8.0
"""Of a hidden unit and token at the loss: the last norm's input, its fp32 copy and its output."""


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

    def fullest(self, *, accumulates: bool = False) -> Memory:
        """Return the moment with the largest sum.

        loss: weights + moments + kept + logits + buffers; backward: working for logits; gradients: all states + the
        last layer + buffers; step: all states + what the step forms. Gradients count at the loss too where they are
        kept between steps, and where those of earlier micro-batches are there (`accumulates`). Under
        DistributedDataParallel these are two sets: it accumulates beside its buckets.
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
        }
        phase = max(moments, key=lambda name: sum(moments[name]))
        of_states, activations, logits, buffers = (part / GIB for part in moments[phase])
        spare = (self.slack - 1) * (of_states + activations + logits + buffers) + CONTEXT_GIB
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


def device_memory(
    setup: TrainingSetup,
    *,
    devices: int,
    trainer: TrainerMemory = USUAL_TRAINER,
    accumulates: bool = False,
    traced_layer_bytes: float | None = None,
) -> Memory:
    """Estimate one device's memory at the fullest moment of a step. The parts are those of `device_parts`."""
    parts = device_parts(setup, devices=devices, trainer=trainer, traced_layer_bytes=traced_layer_bytes)
    return parts.fullest(accumulates=accumulates)


def device_parts(
    setup: TrainingSetup,
    *,
    devices: int,
    trainer: TrainerMemory = USUAL_TRAINER,
    traced_layer_bytes: float | None = None,
    constants: MemoryConstants = FITTED,
) -> Parts:
    """Return what one device holds, in bytes.

    The setup states network, micro-batch, strategy, precision and checkpointing. With adapters only these are trained,
    beside the frozen network. Frozen weights are gathered and copied all the same, unless they are kept at 16 bit or
    less.
    """
    held = held_setup(setup)
    saved, logits = batch_bytes(
        setup, devices=devices, trainer=trainer, traced_layer_bytes=traced_layer_bytes, constants=constants
    )
    head = head_gradient_bytes(
        held.network, strategy=held.strategy, precision=held.precision, trainer=trainer, adapters=setup.adapters
    )
    return Parts(
        slack=constants.slack_of(held.strategy),
        keeps_gradients=keeps_gradients(held.strategy, devices=devices, trainer=trainer),
        states=device_states(
            held.network,
            strategy=held.strategy,
            devices=devices,
            precision=held.precision,
            adapters=setup.adapters,
            trainer=trainer,
        ),
        saved=saved,
        logits=max(logits, head),
        buffers=buffer_bytes(
            held.network,
            strategy=held.strategy,
            precision=held.precision,
            adapters=setup.adapters,
            checkpointing=held.checkpointing,
            trainer=trainer,
        ),
    )


def batch_bytes(
    setup: TrainingSetup,
    *,
    devices: int,
    trainer: TrainerMemory = USUAL_TRAINER,
    traced_layer_bytes: float | None = None,
    constants: MemoryConstants = FITTED,
) -> tuple[Saved, float]:
    """Return what one device holds of a micro-batch, in bytes: what is saved of it, and its logits."""
    held = held_setup(setup)
    saved = saved_per_sample(
        setup,
        autocast=has_wide_stream(held.strategy, precision=held.precision, adapters=setup.adapters, trainer=trainer),
        sharded=held.strategy in SHARDS_WEIGHTS and devices > 1,
        trainer=trainer,
        constants=constants,
        traced_layer_bytes=traced_layer_bytes,
    )
    of_a_token = loss_bytes(held.network, trainer, precision=held.precision, constants=constants)
    return saved.times(held.micro_batch), (setup.seq_len or 1) * held.micro_batch * of_a_token


def keeps_gradients(strategy: Strategy, *, devices: int, trainer: TrainerMemory) -> bool:
    """Return whether gradients stay allocated between steps: DistributedDataParallel's buckets do."""
    return strategy is Strategy.DDP and (devices > 1 or trainer.gradient_buckets)


def head_gradient_bytes(
    architecture: Architecture,
    *,
    strategy: Strategy,
    precision: Precision,
    trainer: TrainerMemory,
    adapters: Adapters | None = None,
) -> float:
    """Return the bytes that the head's gradients take while the pieces of a chunked loss add them up.

    bytes = vocabulary x hidden x (fp32 sum 4 + new gradient in fp32 4 + the same in 16 bit 2) under autocast; else the
    sum and the new one in the format of the products. 0 where the loss is whole, its pieces are not known, or the head
    is frozen. Source: tensors alive on an H100 (tests/speed/memory/test_h100_memory.py).
    """
    if trainer.loss_chunks is None or isinstance(architecture, ImageModel) or adapters is not None:
        return 0.0
    number = float(bytes_per_number(precision))
    under_autocast = casts(strategy, precision=precision, adapters=adapters, trainer=trainer)
    each = 4.0 + 4.0 + number if under_autocast else 2.0 * number
    return each * architecture.vocab * architecture.hidden


def loss_bytes(
    architecture: Architecture, trainer: TrainerMemory, *, precision: Precision, constants: MemoryConstants = FITTED
) -> float:
    """Return the bytes of a token at the loss: of an image network's sample those of its classes."""
    logits = constants.logits(trainer, number_bytes=bytes_per_number(precision)) * head_outputs(architecture)
    return logits if isinstance(architecture, ImageModel) else logits + LAST_NORM_BYTES * architecture.hidden


def head_outputs(architecture: Architecture) -> int:
    """Return how many scores the head gives: the vocabulary, or the classes."""
    return architecture.classes if isinstance(architecture, ImageModel) else architecture.vocab
