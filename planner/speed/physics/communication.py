"""Time of communication in seconds: links, collectives, and the traffic of each parallelism strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from planner.speed.physics.compute import US
from planner.speed.physics.config_arrays import Configs, TrainingArrays
from planner.speed.physics.part_formula import (
    computes,
    expert_matrices,
    forward_again,
    gathers_weights,
    log2_of,
    micro_tokens,
    trained_share,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.speed.physics.config_arrays import Array


COLLECTIVES, FORWARD_COLLECTIVES = 4, 2
"""All-reduces of a tensor split, or all-to-alls of experts, per layer: in all, and in the forward pass."""
SHARDED_COLLECTIVES = 3
"""Collectives per sharded layer: an all-gather forward, one backward, and a reduce-scatter of gradients."""
BYTES_16BIT, BYTES_4BIT = 2.0, 0.5
"""Bytes of a weight or gradient that is sent."""


def inside_rate(c: TrainingArrays, p: Mapping[str, float]) -> Array:
    """Return the bytes/s that a collective reaches per accelerator inside a domain.

    With PCIe the rate falls with the number n of cards in a machine: rate x (2/n)^k, where k depends on the slot's
    generation. Without peer-to-peer, every byte travels from a card to host memory and from there to the next card.
    Then the rate is a share of the lanes' rate, and at most a share of the root port that several cards use. The two
    limits are joined by a smooth minimum: lanes' rate x (lanes^-4 + (root / cards)^-4)^(-1/4).
    """
    import numpy as np

    exponent = np.where(c.pcie_5 > 0, p["pcie_falls_5"], p["pcie_falls"])
    among_cards = (2 / np.maximum(c.pcie_cards, 2.0)) ** exponent
    direct = np.asarray(c.intra * np.where(c.pcie > 0, p["pcie"] * among_cards, p["nvlink"]))
    if not np.any(c.through_host):
        return direct
    root = p["host_root"] / np.maximum(c.bus_sharers, 1.0)
    both = np.sqrt(np.sqrt(1 / np.square(np.square(p["host_lanes"])) + 1 / np.square(np.square(root))))
    return np.where(c.through_host > 0, c.intra / both, direct)


def rate_over(c: TrainingArrays, p: Mapping[str, float], devices: Array, stride: Array) -> Array:
    """Return the bytes/s of a ring over `devices`, each `stride` devices from the next: those of its slowest link.

    A ring enters and leaves each domain once, so it can use the network share of all its members there.
    """
    import numpy as np

    inside = inside_rate(c, p)
    members = np.maximum(1.0, np.minimum(devices, c.nvlink_domain / stride))
    between = np.minimum(c.inter * members * p["network"], inside)
    return np.where(devices * stride > c.nvlink_domain, between, inside)


def bytes_seconds(c: TrainingArrays, p: Mapping[str, float], *, size: Array, devices: Array, stride: Array) -> Array:
    """Return the time of a ring's bytes, when each device sends its share to all others: (n - 1)/n x size / rate."""
    return (1 - 1 / devices) * size / rate_over(c, p, devices, stride)


def ring_seconds(c: TrainingArrays, p: Mapping[str, float], *, size: Array, devices: Array, stride: Array) -> Array:
    """Return the time of one all-gather or reduce-scatter of `size` bytes: (n - 1)/n x size / rate + latency.

    An all-reduce is two of them. Source: Thakur et al. 2005, ring algorithms.
    """
    latency = p["message_us"] * US * log2_of(devices)
    return bytes_seconds(c, p, size=size, devices=devices, stride=stride) + latency


@computes("split")
def tensor_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the seconds of tensor parallel traffic per layer and micro-batch.

    There are four all-reduces of the hidden state, two forward and two backward. Recomputation repeats the forward
    ones. Source: Shoeybi et al. 2019, section 3.
    """
    import numpy as np

    size = micro_tokens(c) * c.hidden * c.number_bytes
    all_reduce = 2 * ring_seconds(c, p, size=size, devices=c.tp, stride=c.tp * 0 + 1)
    shown = 1 - c.native * p["tensor_hidden"]
    return np.asarray((c.tp > 1) * all_reduce * (COLLECTIVES + FORWARD_COLLECTIVES * forward_again(c)) * shown)


def expert_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the seconds per layer and micro-batch in which tokens travel to their experts and back.

    There are four all-to-alls: to the experts and back, forward and backward. Each tensor slice sends its share of the
    tokens.

    A token crosses to another domain once, even if several of its experts are there. With D domains, k random experts
    miss each of the D - 1 others with probability (1 - 1/D)^k. Inside a domain, a plain all-to-all sends one copy per
    expert, and special kernels send one copy per device (DeepSeek-AI 2025, DeepEP).
    """
    import numpy as np

    token = micro_tokens(c) * c.hidden * c.number_bytes / c.tp
    domains = np.maximum(1.0, expert_span(c) / c.nvlink_domain)
    crossing = (domains - 1) * (1 - (1 - 1 / domains) ** c.routed_experts)
    copies, met = c.routed_experts * (1 - 1 / c.ep), (c.ep - 1) * (1 - (1 - 1 / c.ep) ** c.routed_experts)
    inside = np.where(c.dispatched > 0, met, copies) / inside_rate(c, p)
    between = crossing / np.minimum(c.inter * p["network"], inside_rate(c, p))
    all_to_all = token * (inside + between) + p["message_us"] * US * np.log2(c.ep)
    return np.asarray((c.ep > 1) * all_to_all * (COLLECTIVES + FORWARD_COLLECTIVES * forward_again(c)))


def context_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the seconds of context parallel traffic per layer and micro-batch.

    Keys and values travel once around the ring in the forward pass, and twice in the backward pass. A repeated forward
    pass adds one round. Every block is a separate message (Liu et al. 2023, Ring Attention).
    """
    import numpy as np

    size = micro_tokens(c) * c.cp * 2 * c.kv_dim / c.tp * c.number_bytes
    blocks = (c.cp - 1) * p["message_us"] * US
    one_round = bytes_seconds(c, p, size=size, devices=c.cp, stride=c.tp) + blocks
    return np.asarray((c.cp > 1) * (3 + forward_again(c)) * one_round)


def pipeline_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the seconds of pipeline traffic per micro-batch.

    Each virtual stage sends the hidden state to the next stage and its gradient back.
    """
    import numpy as np

    size = micro_tokens(c) * c.hidden * c.number_bytes / c.tp
    rate = np.where(c.pp * c.tp * c.dp > c.nvlink_domain, c.inter * p["network"], inside_rate(c, p))
    return np.asarray((c.pp > 1) * (2 + c.forward_only) * c.chunks * (size / rate + p["message_us"] * US))


def expert_span(c: Configs) -> Array:
    """Return the number of devices that share one set of experts: `ep` x tensor slices, at most all devices.

    If tensor slices hold whole experts, a stated `ep` already includes the slices.
    """
    import numpy as np

    return np.asarray(c.tp * np.minimum(c.ep, c.dp * c.cp))


class DeviceParameters(NamedTuple):
    """Parameters of one device in a replica of the network, after the division by stages, slices and experts."""

    shared: Array
    """Parameters of attention, tables and dense layers, which every replica has."""
    expert: Array
    """Parameters of the device's experts, which only one device of each span of experts has."""


def device_parameters(c: Configs) -> DeviceParameters:
    """Return the parameters of one device: the network's, divided by stages, slices and experts."""
    import numpy as np

    expert = np.minimum(expert_matrices(c) * c.experts * c.layers * (c.experts > 1), c.parameters)
    return DeviceParameters((c.parameters - expert) / c.tp / c.pp, expert / expert_span(c) / c.pp)


def expert_copies(c: Configs) -> tuple[Array, Array]:
    """Return the number of devices with the same experts: among those that shard weights together, and in all."""
    import numpy as np

    span = expert_span(c)
    return np.maximum(1.0, c.shards * c.tp / span), np.maximum(1.0, c.dp * c.cp * c.tp / span)


@computes("sharding")
def sharded_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the seconds of sharded weights' traffic per micro-batch.

    There are two all-gathers of weights and a reduce-scatter of gradients. A pass without gradients, for example
    through a reference that is sharded too, adds one gather.

    Every micro-batch of a pipeline visits every stage, so stages keep their weights gathered. A pipeline therefore
    gathers once per step, as ZeRO-2 does (`gradient_seconds`). Experts are gathered among the devices that hold the
    same ones; these are a span apart, so they can use fewer links of their domain. Frozen weights have no gradients,
    and 4-bit weights are a quarter of the bytes. A ring's latency grows with the number of domains that it visits
    (Thakur et al. 2005). Source: Rajbhandari et al. 2020, section 7; Llama Team 2024, section 3.3.2.
    """
    import numpy as np

    owned, (replicas, _) = device_parameters(c), expert_copies(c)
    stride = np.minimum(expert_span(c), c.shards * c.tp)

    def collective(bytes_per_weight: Array | float) -> Array:
        shared = ring_seconds(c, p, size=owned.shared * bytes_per_weight, devices=c.shards, stride=c.tp)
        expert = ring_seconds(c, p, size=owned.expert * bytes_per_weight, devices=replicas, stride=stride)
        return np.asarray(shared + (c.experts > 1) * expert)

    gathers = 1 + c.sequential_experts * c.experts
    hops = np.maximum(1.0, c.shards * c.tp / c.nvlink_domain) - 1
    latency_us = p["message_us"] * np.log2(c.shards) + p["hop_us"] * hops
    messages = (SHARDED_COLLECTIVES + c.forward_only) * c.layers / c.pp * gathers * latency_us * US
    seconds = (
        (2 + c.forward_only) * collective(np.where(c.quantized > 0, BYTES_4BIT, BYTES_16BIT))
        + collective(BYTES_16BIT) * (1 - c.adapters)
        + messages
    )
    return np.asarray(gathers_weights(c) * (c.shards > 1) * seconds * c.sharding_scale)


@computes("gradients")
def gradient_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the seconds per step in which replicas exchange gradients.

    It is an all-reduce of gradients, or a reduce-scatter of gradients and an all-gather of weights. If weights are
    sharded over a part of the devices only, gradients of a shard are reduced between the parts. Gradients of experts
    are reduced between all devices that hold the same experts.
    """
    import numpy as np

    full = gathers_weights(c)
    owned, (replicas, copies) = device_parameters(c), expert_copies(c)
    bytes_per_weight = np.where(c.zero >= 1, BYTES_16BIT, c.gradient_bytes) * trained_share(c)
    parts, inside = np.where(full, c.shards, 1.0), np.where(full, replicas, 1.0)
    devices = c.dp * c.cp / parts
    shared = ring_seconds(c, p, size=owned.shared * bytes_per_weight / parts, devices=devices, stride=c.tp * parts)
    others, stride = copies / inside, expert_span(c) * inside
    expert = ring_seconds(c, p, size=owned.expert * bytes_per_weight / inside, devices=others, stride=stride)
    return np.asarray(2 * ((devices > 1) * shared + (c.experts > 1) * (others > 1) * expert))
