"""Memory that one device needs for training: the sum of its parts in the fullest phase of a step."""

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
from planner.speed.memory.activations import SavedBytes, saved_per_sample
from planner.speed.memory.buffers import buffer_bytes, casts_weights, has_wide_stream
from planner.speed.memory.constants import FITTED, MemoryConstants, complete_setup
from planner.speed.memory.device_memory import DeviceMemory, Parts, engine_bytes
from planner.speed.memory.states import device_states

LAST_NORM_BYTES = 8.0
"""Bytes per hidden unit and token at the loss: the last norm's input, its fp32 copy, and its output."""


def device_memory(
    setup: TrainingSetup,
    *,
    devices: int,
    trainer: TrainerMemory = USUAL_TRAINER,
    accumulates: bool = False,
    in_flight: int | None = None,
    device_gib: float | None = None,
) -> DeviceMemory:
    """Estimate one device's memory in the fullest phase of a step, from `device_parts`.

    `accumulates`: a step has several micro-batches, so gradients of earlier ones exist.
    """
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
    """Return the memory of one device by purpose, in bytes.

    The setup states network, micro-batch, strategy, split, precision and checkpointing. With adapters, only the
    adapters are trained. Frozen weights are gathered and copied like trained ones, unless they are stored in 16 bits
    or less.

    Both sequences of a preference pair count. A reference model's weights count with the weights; it saves no
    activations, because it runs without gradients.

    Activations are divided by tensor slices, context parts and stages. A pipeline keeps the activations of all
    micro-batches in flight: as many as it has stages, or fewer if `in_flight` says so (Narayanan et al. 2021, section
    2.2). `device_gib` is the device's memory, of which an engine that generates there reserves a share.
    """
    complete, split = complete_setup(setup), setup.split
    group = devices // (split.tensor * split.pipeline)
    saved, logits = _batch_bytes(
        setup, devices=group, trainer=trainer, traced_layer_bytes=traced_layer_bytes, constants=constants
    )
    if split.devices > 1:  # image networks are never split
        kept_at_once = split.pipeline if in_flight is None else min(split.pipeline, in_flight)
        saved = saved.times(1 / (split.tensor * split.context))
        layers = sum(kind.layers for kind in family_of(complete.network).layers)
        saved = saved._replace(kept=saved.kept * split.stage_share(layers) * kept_at_once)
        logits /= split.tensor * split.context
    engine = engine_bytes(setup.objective, setup.framework, device_gib=device_gib)
    head = head_gradient_bytes(
        complete.network,
        strategy=complete.strategy,
        precision=complete.precision,
        trainer=trainer,
        adapters=setup.adapters,
    )
    return Parts(
        slack=constants.slack_of(complete.strategy),
        # Trainers with tensor or pipeline parallelism (Megatron) accumulate in a single gradient buffer.
        keeps_gradients=split.tensor * split.pipeline == 1
        and keeps_gradients(complete.strategy, devices=group, trainer=trainer),
        states=device_states(
            complete.network,
            strategy=complete.strategy,
            devices=devices,
            precision=complete.precision,
            adapters=setup.adapters,
            trainer=trainer,
            split=split,
            objective=setup.objective,
        ),
        saved=saved,
        logits=max(logits, head),
        buffers=buffer_bytes(
            complete.network,
            strategy=complete.strategy,
            precision=complete.precision,
            adapters=setup.adapters,
            checkpointing=complete.checkpointing,
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
) -> tuple[SavedBytes, float]:
    """Return the bytes of a micro-batch on one device of an undivided network: saved activations, and logits."""
    complete = complete_setup(setup)
    saved = saved_per_sample(
        setup,
        autocast=has_wide_stream(
            complete.strategy, precision=complete.precision, adapters=setup.adapters, trainer=trainer
        ),
        sharded=complete.strategy in SHARDS_WEIGHTS and devices > 1,
        trainer=trainer,
        constants=constants,
        traced_layer_bytes=traced_layer_bytes,
    )
    bytes_per_token = loss_bytes(
        complete.network, trainer, precision=complete.precision, constants=constants, objective=setup.objective
    )
    sequences = complete.micro_batch * setup.objective.sequences
    return saved.times(sequences), (setup.seq_len or 1) * sequences * bytes_per_token


def keeps_gradients(strategy: Strategy, *, devices: int, trainer: TrainerMemory) -> bool:
    """Return whether gradients stay allocated between steps, as in DistributedDataParallel's buckets."""
    return strategy is Strategy.DDP and (devices > 1 or trainer.gradient_buckets)


def head_gradient_bytes(
    architecture: Architecture,
    *,
    strategy: Strategy,
    precision: Precision,
    trainer: TrainerMemory,
    adapters: Adapters | None = None,
) -> float:
    """Return the bytes of the head's gradients while a chunked loss accumulates them.

    Under autocast: bytes = vocabulary x hidden x (fp32 sum 4 + new gradient in fp32 4 + the same in 16 bit 2).
    Otherwise the sum and the new gradient are in the format of the products. Returns 0 if the loss is not chunked, the
    number of chunks is not known, or the head is frozen. Source: tensors in memory on an H100
    (tests/speed/memory/test_h100_memory.py).
    """
    if trainer.loss_chunks is None or architecture.sample == "image" or adapters is not None:
        return 0.0
    number = float(bytes_per_number(precision))
    under_autocast = casts_weights(strategy, precision=precision, adapters=adapters, trainer=trainer)
    bytes_per_weight = 4.0 + 4.0 + number if under_autocast else 2.0 * number
    return bytes_per_weight * architecture.vocab * architecture.hidden


def loss_bytes(
    architecture: Architecture,
    trainer: TrainerMemory,
    *,
    precision: Precision,
    constants: MemoryConstants = FITTED,
    objective: MethodSettings = NEXT_TOKEN,
) -> float:
    """Return the bytes per token at the loss; for an image network, the bytes per image."""
    outputs = 1 if has_scalar_head(objective) else head_outputs(architecture)
    logits = constants.logits(trainer, number_bytes=bytes_per_number(precision)) * outputs
    return logits if architecture.sample == "image" else logits + LAST_NORM_BYTES * architecture.hidden


def head_outputs(architecture: Architecture) -> int:
    """Return the number of outputs of the head: the vocabulary, or the classes."""
    return architecture.classes if architecture.sample == "image" else architecture.vocab
