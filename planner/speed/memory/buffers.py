"""Second copies of weights and gradients on a device: gathered shards, 16-bit copies, expanded weights, buckets."""

from __future__ import annotations

from planner.model.network.adapters import AdapterKind, Adapters, FrozenFormat
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import USUAL_TRAINER, TrainerMemory, WeightFormat
from planner.model.network.workload import WHOLE, Checkpointing, Precision, Split, Strategy
from planner.network.activations import bytes_per_number
from planner.network.families.known_families import family_of
from planner.network.flops import cast_weights, layer_maps, parameters
from planner.network.lora_memory import QUANTIZED_BYTES, SHARDS_WEIGHTS, adapted, trained_parameters
from planner.speed.physics.accelerator_facts import uses_autocast

DEEPSPEED_BUCKET = 5e8
"""Gradients that DeepSpeed reduces together: the default of `reduce_bucket_size`."""
DEEPSPEED_LIVE = 1e9
"""Weights that DeepSpeed's stage 3 keeps gathered: the default of `stage3_max_live_parameters`."""
MAPS_OF_A_LAYER = 7
"""Linear maps of a decoder layer: query, key, value, output, gate, up, down."""


def has_wide_stream(
    strategy: Strategy, *, precision: Precision, adapters: Adapters | None, trainer: TrainerMemory
) -> bool:
    """Return whether hidden states between layers are in fp32 while products run in 16 bit.

    They are under autocast, and in PEFT's trainings with quantized weights.
    """
    if adapters is not None and adapters.frozen in QUANTIZED_BYTES:
        # DeepSpeed casts the whole module to 16 bit.
        return trainer.wide_stream and strategy is Strategy.DDP and bytes_per_number(precision) == 2
    return casts_weights(strategy, precision=precision, adapters=adapters, trainer=trainer)


def casts_weights(
    strategy: Strategy, *, precision: Precision, adapters: Adapters | None, trainer: TrainerMemory
) -> bool:
    """Return whether fp32 weights are cast for each 16-bit product."""
    return trainer.weights is WeightFormat.MIXED and uses_autocast(strategy, precision=precision, adapters=adapters)


def buffer_bytes(
    architecture: Architecture,
    *,
    strategy: Strategy,
    precision: Precision,
    adapters: Adapters | None = None,
    checkpointing: Checkpointing = Checkpointing.NONE,
    trainer: TrainerMemory = USUAL_TRAINER,
    split: Split = WHOLE,
) -> float:
    """Return the bytes of second copies of weights and gradients on one device, of a whole or a split network.

    A device copies only the weights of its own slice, stage and experts. The size of a gradient bucket does not depend
    on the split. Quantized layers are expanded one after another, so tensor slices make an expanded layer smaller, but
    pipeline stages do not.
    """
    architecture = family_of(architecture).with_experts_of(split.experts)
    whole = _whole_buffer_bytes(
        architecture,
        strategy=strategy,
        precision=precision,
        adapters=adapters,
        checkpointing=checkpointing,
        trainer=trainer,
    )
    expanded = adapters is not None and adapters.frozen in QUANTIZED_BYTES
    if expanded and strategy not in SHARDS_WEIGHTS:
        return whole / split.tensor
    return whole if strategy in (Strategy.ZERO1, Strategy.ZERO2) else whole / (split.tensor * split.pipeline)


def _whole_buffer_bytes(
    architecture: Architecture,
    *,
    strategy: Strategy,
    precision: Precision,
    adapters: Adapters | None,
    checkpointing: Checkpointing,
    trainer: TrainerMemory,
) -> float:
    """Return the bytes of second copies of weights and gradients for a network that is not split.

    fsdp2 and zero3: two gathered layers (one computes, one is fetched), embedding and head; the whole network for a
    ResNet. zero3 also keeps live weights and two buckets. zero1 and zero2: one bucket of gradients. ddp: autocast's
    16-bit copies of the weights, which the backward pass needs; its gradients live in their buckets.

    Frozen 16-bit weights need no copy. Frozen 8- and 4-bit weights are gathered in their own format and expanded one
    map at a time; without sharding, 4-bit weights of two layers are expanded, unless the trainer expands one map at a
    time. A bucket is never larger than the trained parameters. Weights that adapters materialize are added.
    """
    number_bytes, materialized = bytes_per_number(precision), 0.0
    frozen = None if adapters is None else adapters.frozen
    if adapters is not None:
        materialized = materialized_bytes(architecture, adapters, precision=precision, checkpointing=checkpointing)
    bucket = min(DEEPSPEED_BUCKET, trained_parameters(architecture, adapters))
    if strategy in SHARDS_WEIGHTS:
        gathered = family_of(architecture).gathered()
        size = float(number_bytes * parameters(gathered))
        if frozen in QUANTIZED_BYTES:
            maps = layer_maps(gathered)
            size += (QUANTIZED_BYTES[frozen] - number_bytes) * maps + number_bytes * maps / (2 * MAPS_OF_A_LAYER)
        if strategy is Strategy.ZERO3:
            size += number_bytes * (min(DEEPSPEED_LIVE, parameters(architecture)) + 2 * bucket)
        return size + materialized
    copied = casts_weights(strategy, precision=precision, adapters=adapters, trainer=trainer)
    copies = cast_weights(architecture) if copied else 0
    expanded = 0.0
    if frozen in QUANTIZED_BYTES:
        two_layers = frozen is FrozenFormat.NF4 and not trainer.one_map_at_a_time
        expanded = layer_maps(family_of(architecture).gathered()) / (1 if two_layers else 2 * MAPS_OF_A_LAYER)
    return float(number_bytes * ((0 if strategy is Strategy.DDP else bucket) + copies + expanded)) + materialized


def materialized_bytes(
    network: Architecture, adapters: Adapters, *, precision: Precision, checkpointing: Checkpointing
) -> float:
    """Return the bytes of the dense weights that LoHa materializes and keeps for the backward pass.

    Without full checkpointing all layers keep theirs, with it only one layer does. Other kinds of adapters keep none.
    """
    if adapters.kind is not AdapterKind.LOHA:
        return 0.0
    layers = sum(kind.layers for kind in family_of(network).layers)
    at_once = 1 / layers if checkpointing is Checkpointing.FULL else 1.0
    return bytes_per_number(precision) * adapted(network, adapters).weights * at_once
