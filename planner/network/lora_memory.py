"""Memory of low-rank adaptation: frozen weights without gradients, and fewer saved tensors."""

from __future__ import annotations

from typing import NamedTuple, get_args

from planner.model.network.adapters import AdapterKind, Adapters, AdapterTarget, FrozenFormat
from planner.model.network.architecture import Architecture
from planner.model.network.workload import Strategy
from planner.network.families.known_families import family_of
from planner.network.flops import layer_maps, parameters
from planner.network.layer_kind import LayerKind

NF4_BYTES = 0.5625
"""Bytes of a weight at 4 bits, with an fp32 scale for every 64. Source: Dettmers et al.

2023, section 3, without double quantization.
"""
DOUBLE_NF4_BYTES = 0.5 + 1 / 64 + 4 / (64 * 256)
"""Bytes of a weight at 4 bits with scales at 8 bit, and an fp32 scale for every 256 of these (the same section)."""
QUANTIZED_BYTES = {FrozenFormat.NF4: NF4_BYTES, FrozenFormat.INT8: 1.0}
"""Bytes of a weight of the layers' linear maps, by format.

At 8 bits the fp32 scale for each output, under 0.002 bytes (Dettmers et al. 2022, section 3), is left out.
"""
USUAL = Adapters()
"""Default adapters: rank 16 beside attention's maps."""
EVERY: tuple[AdapterTarget, ...] = get_args(AdapterTarget)
OF_THE_MLP = ("gate", "up", "down")
"""Targets that a layer with routed experts lacks, because experts have no adapters."""
PAIRS = {AdapterKind.LORA: 1, AdapterKind.DORA: 1, AdapterKind.LOHA: 2}
"""Pairs of small matrices that a kind trains for one map."""
SHARDS_WEIGHTS = (Strategy.ZERO3, Strategy.FSDP2)


class MapShape(NamedTuple):
    """One linear map of a layer."""

    inputs: float
    outputs: float


def map_shapes(*, hidden: float, q_dim: float, kv_dim: float, ffn_hidden: float, gated: bool) -> dict[str, MapShape]:
    """Return each linear map of one dense layer, by the names of adapters' targets."""
    attention = {"query": (hidden, q_dim), "key": (hidden, kv_dim), "value": (hidden, kv_dim), "out": (q_dim, hidden)}
    mlp = {"gate": (hidden, ffn_hidden), "up": (hidden, ffn_hidden), "down": (ffn_hidden, hidden)}
    shapes = attention | {name: shape for name, shape in mlp.items() if gated or name != "gate"}
    return {name: MapShape(*shape) for name, shape in shapes.items()}


def _shapes(kind: LayerKind) -> dict[str, MapShape]:
    """Return the maps that may have adapters: in a layer with experts only attention's."""
    shapes = map_shapes(
        hidden=kind.hidden, q_dim=kind.q_dim, kv_dim=kind.kv_dim, ffn_hidden=kind.ffn_hidden, gated=kind.gated
    )
    return {name: shape for name, shape in shapes.items() if kind.ffn_hidden or name not in OF_THE_MLP}


class Adapted(NamedTuple):
    """Maps that have adapters, summed over all layers."""

    numbers: int
    """Inputs + outputs of the maps that have an adapter."""
    outputs: int
    """Outputs of these maps."""
    weights: int
    """Inputs x outputs of these maps."""
    maps: int


def adapted(network: Architecture, adapters: Adapters) -> Adapted:
    """Count the maps that have adapters. In a mixture of experts only dense layers have those of the MLP.

    Returns None for an image network, for which the planner knows no adapters.
    """
    layers = family_of(network).layers if network.sample == "tokens" else ()
    chosen = [
        (shape, kind.layers) for kind in layers for target, shape in _shapes(kind).items() if target in adapters.targets
    ]
    return Adapted(
        int(sum((shape.inputs + shape.outputs) * count for shape, count in chosen)),
        int(sum(shape.outputs * count for shape, count in chosen)),
        int(sum(shape.inputs * shape.outputs * count for shape, count in chosen)),
        sum(count for _, count in chosen),
    )


def adapter_parameters(network: Architecture, adapters: Adapters) -> int:
    """Return the trained parameters: rank x (inputs + outputs), summed over targets and layers.

    DoRA also has a magnitude for every output; LoHa has two pairs of matrices.
    """
    adapted_maps = adapted(network, adapters)
    magnitudes = adapted_maps.outputs if adapters.kind is AdapterKind.DORA else 0
    return PAIRS[adapters.kind] * adapters.rank * adapted_maps.numbers + magnitudes


def adapters_of(network: Architecture, trained: int | None) -> Adapters:
    """Return the adapters that have this many parameters: of the usual targets that divide it, otherwise the usual
    ones.

    Older records state how many parameters were trained, and neither rank nor targets.
    """
    for targets in (USUAL.targets, ("query", "value"), EVERY):
        size = adapted(network, Adapters(targets=targets)).numbers
        if trained and size and trained % size == 0:
            return Adapters(rank=trained // size, targets=targets)
    return USUAL


def trained_parameters(architecture: Architecture, adapters: Adapters | None) -> int:
    """Return how many parameters are trained: the adapters' if there are some, otherwise all."""
    if adapters is None or architecture.sample == "image":
        return parameters(architecture)
    return adapter_parameters(architecture, adapters)


def frozen_bytes_per_parameter(
    network: Architecture,
    adapters: Adapters,
    *,
    strategy: Strategy,
    devices: int,
    wide_rest: bool = False,
    double_quantized: bool = False,
) -> float:
    """Return the bytes of a frozen weight on one device of n: no gradient, no moments, no fp32 copy beside 16 bit.

    In fp32 (no format of their own) 4, at 16 bit 2, at nf4 0.5625 (`double_quantized`: 0.516) and at int8 1 of the
    layers' linear maps and 2 of the rest, or 4 (`wide_rest`: peft's `prepare_model_for_kbit_training` casts embedding,
    head and norms to fp32); over n where weights are sharded. Source: DeepSpeed partitions and copies only what the
    optimizer was given.
    """
    shards = devices if strategy in SHARDS_WEIGHTS else 1
    if adapters.frozen is None:
        return 4.0 / shards
    if adapters.frozen is FrozenFormat.SIXTEEN_BIT:
        return 2.0 / shards
    rest = 4.0 if wide_rest else 2.0
    quantized = QUANTIZED_BYTES[adapters.frozen]
    if double_quantized and adapters.frozen is FrozenFormat.NF4:
        quantized = DOUBLE_NF4_BYTES
    saved = rest - quantized
    return (rest - saved * layer_maps(network) / parameters(network)) / shards


def lora_layer_bytes(
    kind: LayerKind,
    adapters: Adapters,
    *,
    bytes_per_number: int,
    residual_bytes: int,
    autocast: bool,
    kv_outputs: int,
    fused_norms: bool = False,
    keeps_inputs: bool = False,
) -> float:
    """Return the bytes that one dense layer saves of each token, where all but its adapters is frozen.

    A frozen product needs its weight and not its input. So of what full training saves (activations.py) these stay:
    norms: their input (an RMSNorm's in fp32, without the normalised values, which only a trained weight needs);
    attention: query, key, value, output, 4 bytes a head, QK-norm's input; MLP: what its non-linearity needs, gelu's
    input, or gate, up and silu(gate). Each adapter adds its input (shared by those that read the same tensor, one
    16-bit copy for each under autocast) and its `rank` inner values. `kv_outputs`: of key and value as the kernel
    reads them. `fused_norms`: a norm saves its input in the input's own type. `keeps_inputs`: every map saves its
    input, frozen or not. Source: equals the tensors that autograd saves, traced
    (tests/launcher/bench/test_memory_trace.py). Not traced: DoRA keeps two outputs of each map more, the map's and the
    adapter's, which its magnitude scales (Liu et al. 2024, equation 5); LoHa has no inner values. Targets
    that the network lacks cost nothing. Left out: what forming a weight needs for a moment.
    """
    shapes = _shapes(kind)
    b, targets, rank = bytes_per_number, set(adapters.targets) & set(shapes), adapters.rank
    saving = set(shapes) if keeps_inputs else targets
    d, q, kv = kind.hidden, kind.q_dim, kind.kv_dim
    f = kind.ffn_hidden
    written_out = kind.norm == "rmsnorm" and not fused_norms
    norms = 2 * (4 if written_out else residual_bytes) * d
    qk_norm = (4 if written_out else b) * (q + kv) if kind.qk_norm else 0
    attention = b * (2 * q + 2 * kv_outputs) + 4 * kind.heads
    if "out" in saving and kind.rotates:
        attention += b * q  # the output's copy, which is the product's input
    mlp = b * f * (3 if kind.gated else 1)
    if "down" in saving:
        mlp += b * f
    inputs = sum(
        b * d * (len(readers) if autocast else min(1, len(readers)))
        for readers in (saving & {"query", "key", "value"}, saving & {"gate", "up"})
    )
    inner = 0 if adapters.kind is AdapterKind.LOHA else rank * len(targets)
    if adapters.kind is AdapterKind.DORA:
        inner += 2 * sum(int(shapes[name].outputs) for name in targets)
    return float(norms + qk_norm + attention + mlp + inputs + b * inner)
