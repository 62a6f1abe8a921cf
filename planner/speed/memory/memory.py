"""What one device must hold while it trains: the fullest moment of a step."""

from __future__ import annotations

from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import USUAL_TRAINER, TrainerMemory
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings
from planner.model.network.workload import Precision, Strategy
from planner.network.activations import bytes_per_number
from planner.network.families.known_families import family_of
from planner.network.lora_memory import SHARDS_WEIGHTS
from planner.network.method_work import has_scalar_head
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.activations import Saved, saved_per_sample
from planner.speed.memory.buffers import buffer_bytes, casts, has_wide_stream
from planner.speed.memory.constants import FITTED, MemoryConstants
from planner.speed.memory.fullest_moment import Memory, Parts
from planner.speed.memory.held_setup import held_setup
from planner.speed.memory.rollout_engine import engine_bytes
from planner.speed.memory.states import device_states

LAST_NORM_BYTES = 8.0
"""Of a hidden unit and token at the loss: the last norm's input, its fp32 copy and its output."""


def device_memory(
    setup: TrainingSetup,
    *,
    devices: int,
    trainer: TrainerMemory = USUAL_TRAINER,
    accumulates: bool = False,
    in_flight: int | None = None,
    device_gib: float | None = None,
) -> Memory:
    """Estimate one device's memory at the fullest moment of a step. The parts are those of `device_parts`."""
    parts = device_parts(setup, devices=devices, trainer=trainer, in_flight=in_flight, device_gib=device_gib)
    return parts.fullest(accumulates=accumulates)


def device_parts(
    setup: TrainingSetup,
    *,
    devices: int,
    trainer: TrainerMemory = USUAL_TRAINER,
    traced_layer_bytes: float | None = None,
    in_flight: int | None = None,
    device_gib: float | None = None,
    constants: MemoryConstants = FITTED,
) -> Parts:
    """Return what one device holds, in bytes.

    The setup states network, micro-batch, strategy, split, precision and checkpointing. With adapters only these are
    trained, beside the frozen network. Frozen weights are gathered and copied all the same, unless they are kept at 16
    bit or less.

    `device_gib`: the device's memory, of which an engine that generates there reserves a share.

    Of a pair both sequences count. A reference model beside the trained one is part of the weights; its passes keep
    nothing (they run without gradients).

    Activations are divided by slices, context and stages. A pipeline keeps as many micro-batches as are in flight: its
    stages, unless a step has fewer (Narayanan et al. 2021, section 2.2).
    """
    held, split = held_setup(setup), setup.split
    group = devices // (split.tensor * split.pipeline)
    saved, logits = _batch_bytes(
        setup, devices=group, trainer=trainer, traced_layer_bytes=traced_layer_bytes, constants=constants
    )
    if split.devices > 1:  # of a network of images nothing is divided
        kept_at_once = split.pipeline if in_flight is None else min(split.pipeline, in_flight)
        saved = saved.times(1 / (split.tensor * split.context))
        layers = sum(kind.layers for kind in family_of(held.network).layers)
        saved = saved._replace(kept=saved.kept * split.stage_share(layers) * kept_at_once)
        logits /= split.tensor * split.context
    engine = engine_bytes(setup.objective, setup.framework, device_gib=device_gib)
    head = head_gradient_bytes(
        held.network, strategy=held.strategy, precision=held.precision, trainer=trainer, adapters=setup.adapters
    )
    return Parts(
        slack=constants.slack_of(held.strategy),
        # Trainers that cut tensors or stages (Megatron) accumulate in one buffer of gradients.
        keeps_gradients=split.tensor * split.pipeline == 1
        and keeps_gradients(held.strategy, devices=group, trainer=trainer),
        states=device_states(
            held.network,
            strategy=held.strategy,
            devices=devices,
            precision=held.precision,
            adapters=setup.adapters,
            trainer=trainer,
            split=split,
            objective=setup.objective,
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
            split=split,
        ),
        engine_training=engine.training,
        engine_generating=engine.generating,
    )


def _batch_bytes(
    setup: TrainingSetup,
    *,
    devices: int,
    trainer: TrainerMemory,
    traced_layer_bytes: float | None,
    constants: MemoryConstants,
) -> tuple[Saved, float]:
    """Return what one device holds of a micro-batch of a whole network, in bytes: what is saved of it, its logits."""
    held = held_setup(setup)
    saved = saved_per_sample(
        setup,
        autocast=has_wide_stream(held.strategy, precision=held.precision, adapters=setup.adapters, trainer=trainer),
        sharded=held.strategy in SHARDS_WEIGHTS and devices > 1,
        trainer=trainer,
        constants=constants,
        traced_layer_bytes=traced_layer_bytes,
    )
    of_a_token = loss_bytes(
        held.network, trainer, precision=held.precision, constants=constants, objective=setup.objective
    )
    sequences = held.micro_batch * setup.objective.sequences
    return saved.times(sequences), (setup.seq_len or 1) * sequences * of_a_token


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
    if trainer.loss_chunks is None or architecture.sample == "image" or adapters is not None:
        return 0.0
    number = float(bytes_per_number(precision))
    under_autocast = casts(strategy, precision=precision, adapters=adapters, trainer=trainer)
    each = 4.0 + 4.0 + number if under_autocast else 2.0 * number
    return each * architecture.vocab * architecture.hidden


def loss_bytes(
    architecture: Architecture,
    trainer: TrainerMemory,
    *,
    precision: Precision,
    constants: MemoryConstants = FITTED,
    objective: MethodSettings = NEXT_TOKEN,
) -> float:
    """Return the bytes of a token at the loss: of an image network's sample those of its classes."""
    outputs = 1 if has_scalar_head(objective) else head_outputs(architecture)
    logits = constants.logits(trainer, number_bytes=bytes_per_number(precision)) * outputs
    return logits if architecture.sample == "image" else logits + LAST_NORM_BYTES * architecture.hidden


def head_outputs(architecture: Architecture) -> int:
    """Return how many scores the head gives: the vocabulary, or the classes."""
    return architecture.classes if architecture.sample == "image" else architecture.vocab
