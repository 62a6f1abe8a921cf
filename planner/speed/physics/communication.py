"""Time of communication: links, collectives, and the traffic of each parallelism strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from planner.speed.physics.compute import (
    US,
    expert_matrices,
    forward_again,
    gathers_weights,
    micro_tokens,
    trained_share,
)
from planner.speed.physics.config_arrays import Configs
from planner.speed.physics.part_formula import computes, log2_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.image_config_arrays import ImageConfigs


COLLECTIVES, FORWARD_COLLECTIVES = 4, 2
"""All-reduces of a tensor split and all-to-alls of experts, per layer: all, and those of the forward pass."""
SHARDED_COLLECTIVES = 3
"""Per layer: an all-gather forward, one backward, and a reduce-scatter of gradients."""
BYTES_16BIT, BYTES_4BIT = 2.0, 0.5
"""Of a weight or gradient as it is sent."""


def inside_rate(c: Configs | ImageConfigs, p: Mapping[str, float]) -> Array:
    """Bytes/s that a collective reaches per accelerator inside a domain.

    Of cards over PCIe it falls with their number n in a machine: rate x (2/n)^k, k by the slot's generation. Without
    peer-to-peer every byte goes up the lanes of one card into the host's memory, and from there down those of the
    next: a share of the lanes' rate, and no more than a share of the root port's among the cards behind it: a smooth
    minimum, lanes' rate x (lanes^-4 + (root / cards)^-4)^(-1/4).
    """
    import numpy as np

    falls_by = np.where(c.pcie_5 > 0, p["pcie_falls_5"], p["pcie_falls"])
    among_cards = (2 / np.maximum(c.pcie_cards, 2.0)) ** falls_by
    own = np.asarray(c.intra * np.where(c.pcie > 0, p["pcie"] * among_cards, p["nvlink"]))
    if not np.any(c.through_host):
        return own
    root = p["host_root"] / np.maximum(c.bus_sharers, 1.0)
    both = np.sqrt(np.sqrt(1 / np.square(np.square(p["host_lanes"])) + 1 / np.square(np.square(root))))
    return np.where(c.through_host > 0, c.intra / both, own)


def rate_over(c: Configs | ImageConfigs, p: Mapping[str, float], devices: Array, stride: Array) -> Array:
    """Bytes/s of a ring over `devices` with `stride` devices from one to the next: the slowest link that it crosses.

    A ring enters and leaves each domain once, so all its members there lend it their share of the network.
    """
    import numpy as np

    inside = inside_rate(c, p)
    members = np.maximum(1.0, np.minimum(devices, c.nvlink_domain / stride))
    between = np.minimum(c.inter * members * p["network"], inside)
    return np.where(devices * stride > c.nvlink_domain, between, inside)


def bytes_seconds(
    c: Configs | ImageConfigs, p: Mapping[str, float], *, size: Array, devices: Array, stride: Array
) -> Array:
    """Time of a ring's bytes, each device's share to all others: (n - 1)/n x size / rate."""
    return (1 - 1 / devices) * size / rate_over(c, p, devices, stride)


def ring_seconds(
    c: Configs | ImageConfigs, p: Mapping[str, float], *, size: Array, devices: Array, stride: Array
) -> Array:
    """Time of one all-gather or reduce-scatter of `size` bytes: (n - 1)/n x size / rate, and a message's latency.

    Source: Thakur et al. 2005, ring algorithms; an all-reduce is two of them.
    """
    latency = p["message_us"] * US * log2_of(devices)
    return bytes_seconds(c, p, size=size, devices=devices, stride=stride) + latency


@computes("split")
def tensor_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Per layer and micro-batch: four all-reduces of the hidden state, two forward and two backward.

    Recomputation repeats the forward ones. Source: Shoeybi et al. 2019, section 3.
    """
    import numpy as np

    size = micro_tokens(c) * c.hidden * c.number_bytes
    one = 2 * ring_seconds(c, p, size=size, devices=c.tp, stride=c.tp * 0 + 1)
    shown = 1 - c.native * p["tensor_hidden"]
    return np.asarray((c.tp > 1) * one * (COLLECTIVES + FORWARD_COLLECTIVES * forward_again(c)) * shown)


def expert_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Per layer and micro-batch: tokens go to their experts and back, forward and backward; four all-to-alls.

    A token crosses to another domain once, however many of its experts stand there: of D domains k experts chosen at
    random leave out each of the D - 1 others with (1 - 1/D)^k. Slices of a tensor split send a share of tokens each.
    Inside a domain a plain all-to-all sends a copy for each expert, kernels written for it one to each device met
    (DeepSeek-AI 2025, DeepEP).
    """
    import numpy as np

    token = micro_tokens(c) * c.hidden * c.number_bytes / c.tp
    domains = np.maximum(1.0, expert_span(c) / c.nvlink_domain)
    crossing = (domains - 1) * (1 - (1 - 1 / domains) ** c.routed_experts)
    copies, met = c.routed_experts * (1 - 1 / c.ep), (c.ep - 1) * (1 - (1 - 1 / c.ep) ** c.routed_experts)
    inside = np.where(c.dispatched > 0, met, copies) / inside_rate(c, p)
    between = crossing / np.minimum(c.inter * p["network"], inside_rate(c, p))
    one = token * (inside + between) + p["message_us"] * US * np.log2(c.ep)
    return np.asarray((c.ep > 1) * one * (COLLECTIVES + FORWARD_COLLECTIVES * forward_again(c)))


def context_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Per layer and micro-batch: keys and values travel once round the ring, three times with the backward pass.

    Once more where the forward pass is repeated. Every block is a message of its own (Liu et al. 2023, Ring Attention).
    """
    import numpy as np

    size = micro_tokens(c) * c.cp * 2 * c.kv_dim / c.tp * c.number_bytes
    blocks = (c.cp - 1) * p["message_us"] * US
    one = bytes_seconds(c, p, size=size, devices=c.cp, stride=c.tp) + blocks
    return np.asarray((c.cp > 1) * (3 + forward_again(c)) * one)


def pipeline_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Per micro-batch: the hidden state to the next stage and its gradient back, once per virtual stage."""
    import numpy as np

    size = micro_tokens(c) * c.hidden * c.number_bytes / c.tp
    rate = np.where(c.pp * c.tp * c.dp > c.nvlink_domain, c.inter * p["network"], inside_rate(c, p))
    return np.asarray((c.pp > 1) * (2 + c.forward_only) * c.chunks * (size / rate + p["message_us"] * US))


def expert_span(c: Configs) -> Array:
    """Devices over which one set of experts is spread: `ep` times the tensor slices, and never more than there are.

    Where tensor slices hold whole experts, a stated `ep` counts the slices already.
    """
    import numpy as np

    return np.asarray(c.tp * np.minimum(c.ep, c.dp * c.cp))


class Held(NamedTuple):
    """Parameters whose states one model replica's device answers for: its share of stages, slices and experts."""

    shared: Array
    """Attention, tables, dense layers: the same on every replica."""
    expert: Array
    """Its own experts: the same on one device of each span of experts only."""


def held_parameters(c: Configs) -> Held:
    """Divide the parameters among stages, slices and experts."""
    import numpy as np

    expert = np.minimum(expert_matrices(c) * c.experts * c.layers * (c.experts > 1), c.parameters)
    return Held((c.parameters - expert) / c.tp / c.pp, expert / expert_span(c) / c.pp)


def expert_copies(c: Configs) -> tuple[Array, Array]:
    """Return how many devices hold the same experts: among those that share weights, and in all."""
    import numpy as np

    span = expert_span(c)
    return np.maximum(1.0, c.shards * c.tp / span), np.maximum(1.0, c.dp * c.cp * c.tp / span)


@computes("sharding")
def sharded_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Per micro-batch, where weights are sharded: two all-gathers and a reduce-scatter of gradients.

    A pass without gradients, as through a reference that is sharded alike, is one gather more.

    A pipeline gathers once for all of its micro-batches instead, as ZeRO-2 does (`gradient_seconds`): every micro-batch
    visits every stage, so stages keep their weights gathered. Experts are gathered among the devices that hold the same
    ones, which are a span apart and so pool fewer links of their domain. Frozen weights need no gradients; at 4 bits
    they travel at a quarter. A ring's latency grows with the domains that it visits one after another (Thakur et al.
    2005). Source: Rajbhandari et al. 2020, section 7; Llama Team 2024, section 3.3.2.
    """
    import numpy as np

    held, (replicas, _) = held_parameters(c), expert_copies(c)
    stride = np.minimum(expert_span(c), c.shards * c.tp)

    def one(number: Array | float) -> Array:
        shared = ring_seconds(c, p, size=held.shared * number, devices=c.shards, stride=c.tp)
        expert = ring_seconds(c, p, size=held.expert * number, devices=replicas, stride=stride)
        return np.asarray(shared + (c.experts > 1) * expert)

    gathers = 1 + c.sequential_experts * c.experts
    hops = np.maximum(1.0, c.shards * c.tp / c.nvlink_domain) - 1
    each = p["message_us"] * np.log2(c.shards) + p["hop_us"] * hops
    messages = (SHARDED_COLLECTIVES + c.forward_only) * c.layers / c.pp * gathers * each * US
    seconds = (
        (2 + c.forward_only) * one(np.where(c.quantized > 0, BYTES_4BIT, BYTES_16BIT))
        + one(BYTES_16BIT) * (1 - c.adapters)
        + messages
    )
    return np.asarray(gathers_weights(c) * (c.shards > 1) * seconds * c.sharding_scale)


@computes("gradients")
def gradient_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Per step, what each replica must agree on: an all-reduce of gradients (or scatter, and gather of weights).

    Where weights are sharded over a part of the devices only, the shards' gradients are reduced between the parts;
    those of experts between all that hold the same ones.
    """
    import numpy as np

    full = gathers_weights(c)
    held, (replicas, copies) = held_parameters(c), expert_copies(c)
    number = np.where(c.zero >= 1, BYTES_16BIT, c.gradient_bytes) * trained_share(c)
    parts, inside = np.where(full, c.shards, 1.0), np.where(full, replicas, 1.0)
    devices = c.dp * c.cp / parts
    shared = ring_seconds(c, p, size=held.shared * number / parts, devices=devices, stride=c.tp * parts)
    others = copies / inside
    expert = ring_seconds(c, p, size=held.expert * number / inside, devices=others, stride=expert_span(c) * inside)
    return np.asarray(2 * ((devices > 1) * shared + (c.experts > 1) * (others > 1) * expert))
