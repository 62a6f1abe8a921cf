"""Seconds of one optimizer step, from its parts; every part is a sum or a smooth maximum, so more work never helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.estimate.physics import communication as wires
from planner.estimate.physics import compute
from planner.estimate.physics.configs import Configs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.estimate.physics.configs import Array

OTHER_LAYERS = 2.0
"""Host work of a micro-batch besides its layers, in layers: embedding, head, loss, the loop itself."""
HOST_SHARPNESS = 6.0
"""Launches run ahead of the device, so the slower of the two shows almost alone."""
HIDING_SHARPNESS = 3.0
LARGEST_OF_TWO, LARGEST_POWER = 0.564, 0.84


def smooth_maximum(one: Array, other: Array, exponent: float) -> Array:
    """(a^k + b^k)^(1/k): the sum at k = 1, the larger one as k grows; rises with both."""
    import numpy as np

    top = np.maximum(np.maximum(one, other), 1e-30)
    return top * ((one / top) ** exponent + (other / top) ** exponent) ** (1 / exponent)


def step_parts(c: Configs, p: Mapping[str, float]) -> dict[str, Array]:
    """Seconds of each part of one step, in the order in which they add up.

    compute: micro-batches x the slower of device and host, over the layers of one stage
    split: tensor, expert and context parallel traffic, which nothing hides
    sharding: what gathering weights adds to a micro-batch
    bubble: (stages - 1) / virtual stages more micro-batches
    gradients: what the backward pass of the last micro-batch does not hide
    optimizer: reading and writing states, sharded as ZeRO says, or through the CPU
    waiting: the slowest of many
    """
    import numpy as np

    stage = c.layers / c.pp
    layer = compute.layer_seconds(c, p)
    head = compute.head_seconds(c, p) * 0.5 * (1 + 1 / c.pp)
    host = compute.host_seconds(c, p) * (stage + OTHER_LAYERS)
    device = layer * stage + head
    busy = smooth_maximum(device, host, HOST_SHARPNESS) * _longest(c, p)
    split = (
        wires.tensor_seconds(c, p) + wires.expert_seconds(c, p) + wires.context_seconds(c, p)
    ) * stage + wires.pipeline_seconds(c, p)
    micro = smooth_maximum(busy + split, wires.sharded_seconds(c, p), p["overlap"])
    gradients = wires.gradient_seconds(c, p)
    hiding = p["hidden_share"] * busy
    exposed = smooth_maximum(hiding, gradients, HIDING_SHARPNESS) - hiding
    optimizer = _optimizer_seconds(c, p)
    bubble = micro * (c.pp - 1) / c.chunks
    total = c.micro_batches * micro + bubble + exposed + optimizer
    waiting = total * p["jitter"] * np.log2(c.gpus)
    return {
        "compute": c.micro_batches * busy,
        "split": c.micro_batches * split,
        "sharding": c.micro_batches * (micro - busy - split),
        "bubble": bubble,
        "gradients": exposed,
        "optimizer": optimizer,
        "waiting": waiting,
    }


def step_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Seconds of one optimizer step: the sum of its parts."""
    return sum(step_parts(c, p).values())  # type: ignore[return-value]


def _longest(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the longest of the devices' micro-batches against their mean, where samples differ in length.

    1 + variation x E[largest of n standard normals] / sqrt(samples); the expectation is 0.564 (log2 n)^0.84 within 2 %
    up to n = 64. Source: order statistics, e.g. David and Nagaraja 2003, table 3.1.
    """
    import numpy as np

    samples = c.micro_batch * np.where(c.zero >= 3, 1.0, c.micro_batches)
    largest = LARGEST_OF_TWO * np.log2(c.dp) ** LARGEST_POWER
    return np.asarray(1 + c.ragged * p["ragged"] * largest / np.sqrt(samples))


def _optimizer_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    import numpy as np

    trained = wires.held_parameters(c) * np.where(c.adapters > 0, 0.01, 1.0)
    share = trained / np.where(c.zero >= 1, c.dp * c.cp, 1.0)
    on_device = share * p["optimizer"] / (c.hbm * p["hbm"])
    through_cpu = share * 16.0 / (p["offload_gb"] * 1e9)
    return np.where(c.optimizer_offload > 0, through_cpu, on_device) + p["step_ms"] * 1e-3
