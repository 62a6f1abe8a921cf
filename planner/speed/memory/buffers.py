"""Weights and gradients that stand on a device a second time: gathered, copied, expanded, in buckets."""

from __future__ import annotations

from planner.model.network.adapters import AdapterKind, Adapters, FrozenFormat
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import USUAL_TRAINER, TrainerMemory, WeightFormat
from planner.model.network.workload import WHOLE, Checkpointing, Precision, Split, Strategy
from planner.network.activations import bytes_per_number
from planner.network.families.known_families import family_of
from planner.network.flops import cast_weights, layer_maps, parameters
from planner.network.lora_memory import QUANTIZED_BYTES, SHARDS_WEIGHTS, adapted, trained_parameters
from planner.speed.physics.number_format import uses_autocast

DEEPSPEED_BUCKET = 5e8
"""Gradients that DeepSpeed reduces at once: the default of `reduce_bucket_size`."""
DEEPSPEED_LIVE = 1e9
"""Weights that its stage 3 keeps gathered: the default of `stage3_max_live_parameters`."""


def has_wide_stream(
    strategy: Strategy, *, precision: Precision, adapters: Adapters | None, trainer: TrainerMemory
) -> bool:
    """Return whether the stream between layers is in fp32 beside 16-bit products: under autocast, and peft's way."""
    if adapters is not None and adapters.frozen in QUANTIZED_BYTES:
        # DeepSpeed's engine casts the whole module to 16 bit.
        return trainer.wide_stream and strategy is Strategy.DDP and bytes_per_number(precision) == 2
    return casts(strategy, precision=precision, adapters=adapters, trainer=trainer)


def casts(strategy: Strategy, *, precision: Precision, adapters: Adapters | None, trainer: TrainerMemory) -> bool:
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
    """Return the bytes of weights and gradients that stand there a second time, on a device of a split network too.

    Weights that stand there twice are of the device's own slice and stage, and of the experts that it holds. A bucket
    of gradients has its own size, and layers that are expanded come one after the other.
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
    """Return the bytes of weights and gradients that stand there a second time, of a network that is not split.

    fsdp2, zero3: two gathered layers (one computes, one is fetched), embedding and head; of a resnet, all of it. zero3
    besides: what it keeps gathered, and two buckets. zero1, zero2: one bucket of gradients. ddp: autocast's 16-bit
    copies of the weights, which the backward pass needs; gradients live in their buckets, so those cost nothing more.
    Frozen weights that are kept at 16 bit need no copy; at 8 and 4 bits they are gathered so and expanded map by map,
    at 4 bits two layers where they lie whole, unless a trainer expands one map at a time. A bucket holds no more than
    what is trained. Weights that adapters materialise come on top.
    """
    b, materialised = bytes_per_number(precision), 0.0
    frozen = None if adapters is None else adapters.frozen
    if adapters is not None:
        materialised = materialised_bytes(architecture, adapters, precision=precision, checkpointing=checkpointing)
    bucket = min(DEEPSPEED_BUCKET, trained_parameters(architecture, adapters))
    if strategy in SHARDS_WEIGHTS:
        gathered = family_of(architecture).gathered()
        size = float(b * parameters(gathered))
        if frozen in QUANTIZED_BYTES:
            maps = layer_maps(gathered)
            size += (QUANTIZED_BYTES[frozen] - b) * maps + b * maps / (2 * MAPS_OF_A_LAYER)
        if strategy is Strategy.ZERO3:
            size += b * (min(DEEPSPEED_LIVE, parameters(architecture)) + 2 * bucket)
        return size + materialised
    copied = casts(strategy, precision=precision, adapters=adapters, trainer=trainer)
    copies = cast_weights(architecture) if copied else 0
    expanded = 0.0
    if frozen in QUANTIZED_BYTES:
        two_layers = frozen is FrozenFormat.NF4 and not trainer.one_map_at_a_time
        expanded = layer_maps(family_of(architecture).gathered()) / (1 if two_layers else 2 * MAPS_OF_A_LAYER)
    return float(b * ((0 if strategy is Strategy.DDP else bucket) + copies + expanded)) + materialised


MAPS_OF_A_LAYER = 7
"""Query, key, value, output, gate, up, down."""


def materialised_bytes(
    network: Architecture, adapters: Adapters, *, precision: Precision, checkpointing: Checkpointing
) -> float:
    """Bytes of the dense weights that LoHa materialises and the backward pass multiplies by: of all layers, or of one.

    Of one where layers are computed again (full). Other kinds keep none.
    """
    if adapters.kind is not AdapterKind.LOHA:
        return 0.0
    layers = sum(kind.layers for kind in family_of(network).layers)
    at_once = 1 / layers if checkpointing is Checkpointing.FULL else 1.0
    return bytes_per_number(precision) * adapted(network, adapters).weights * at_once
