"""Seconds of one optimizer step, from its parts; every part is a sum or a smooth maximum, so more work never helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from planner.quantity.formula import applied, named
from planner.scenario.training_setup import LARGEST_OF_TWO, LARGEST_POWER
from planner.speed.physics import communication, compute, engine
from planner.speed.physics.config_arrays import Configs
from planner.speed.physics.part_formula import computes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.speed.physics.config_arrays import Array

OTHER_LAYERS = 2.0
"""Host work of a micro-batch besides its layers, in layers: embedding, head, loss, the loop itself."""
HOST_SHARPNESS = 6.0
"""Launches run ahead of the device, so the slower of the two shows almost alone. Assumed."""
HIDING_SHARPNESS = 3.0
"""Traffic hides behind work where streams overlap: most of the shorter one disappears. Assumed."""
SMALLEST_SECONDS, SMALLEST_RATIO = 1e-30, 1e-100
"""Instead of nothing, whose logarithm is no number."""
OFFLOADED_BYTES = 16.0
"""Of a parameter through CPU and PCIe at an offloaded step: weight, gradient, two moments (Rajbhandari et al. 2020,
section 3)."""


def smooth_maximum(one: Array, other: Array, exponent: float) -> Array:
    """(a^k + b^k)^(1/k): the sum at k = 1, the larger one as k grows; rises with both.

    As larger x (1 + ratio^k)^(1/k), by logarithms: powers would be most of a step's time.
    """
    import numpy as np

    if object in (np.asarray(one).dtype, np.asarray(other).dtype):  # recorded numbers
        by_element = np.frompyfunc(lambda a, b: applied("smooth_max", _smooth_max, a, b, exponent), 2, 1)
        return np.asarray(by_element(one, other))
    top = np.maximum(np.maximum(one, other), SMALLEST_SECONDS)
    ratio = np.maximum(np.minimum(one, other) / top, SMALLEST_RATIO)
    return np.asarray(top * np.exp(np.log(1 + np.exp(exponent * np.log(ratio))) / exponent))


def _smooth_max(one: float, other: float, exponent: float) -> float:
    """Return the same of two plain numbers."""
    top = max(one, other)
    return top * (1 + (min(one, other) / top) ** exponent) ** (1 / exponent) if top > 0 else 0.0


def _exposed(traffic: Array, work: Array) -> Array:
    """Return what of some traffic does not hide behind work that goes on meanwhile."""
    return smooth_maximum(traffic, work, HIDING_SHARPNESS) - work


ELSEWHERE = ("tail", "split", "host", "engine", "sharding", "gradients", "overhead", "waiting", "input")
"""Parts that are no work of the accelerator's own units: gaps between kernels, links, host, waiting, storage."""


class Step(NamedTuple):
    """Seconds of one step, and how much of a change in each part arrives in it: d ln seconds / d ln part."""

    seconds: Array
    shares: dict[str, Array]

    @property
    def device_share(self) -> Array:
        """How much of a change in the accelerator's own time arrives in the step."""
        import numpy as np

        return np.asarray(np.sum([share for name, share in self.shares.items() if name not in ELSEWHERE], axis=0))


@computes("overhead", "waiting")
def step(c: Configs, p: Mapping[str, float]) -> Step:
    """Compute seconds of one optimizer step and the shares of its parts.

    seconds = ((micro-batches + bubble) x micro-batch + exposed gradients + optimizer) x (1 + waiting)
    micro-batch = the slower of compute and sharded traffic, smoothly; compute = the slower of device and host. The
    host launches kernels and does DeepSpeed's work (`engine.py`). The device also waits for tensor and expert traffic,
    which nothing hides, and for context traffic, which attention over the blocks before hides (Liu et al. 2023);
    bubble = (stages - 1) / virtual stages.
    """
    import numpy as np

    longest = _longest(c, p)
    parts = _device_parts(c, p, longest)
    launches = _launch_seconds(c, p) * longest
    host = launches + engine.engine_seconds(c, p)
    parts = {name: named(f"{name}_seconds", value, "s") for name, value in parts.items()}
    host = named("host_seconds", host, "s", "launches, and DeepSpeed's work, of a micro-batch")
    device = named("device_seconds", np.sum(list(parts.values()), axis=0), "s", "a micro-batch on the device")
    busy = named("busy_seconds", smooth_maximum(device, host, HOST_SHARPNESS), "s", "the slower of device and host")
    of_device = (device / busy) ** HOST_SHARPNESS
    sharded = communication.sharded_seconds(c, p)
    micro = named("micro_batch_seconds", smooth_maximum(busy, sharded, p["overlap"]), "s")
    of_work = (busy / micro) ** p["overlap"]
    hiding, gradients = p["hidden_share"] * busy, communication.gradient_seconds(c, p)
    exposed = named("exposed_gradients_seconds", _exposed(gradients, hiding), "s")
    optimizer, overhead = _optimizer_seconds(c, p), p["step_ms"] * 1e-3
    repeated = micro * (c.micro_batches + (c.pp - 1) / c.chunks)
    waiting = p["jitter"] * np.log2(c.gpus)
    total = (repeated + exposed + optimizer + overhead) * (1 + waiting)
    of_busy = repeated / total * of_work
    shares = {name: of_busy * of_device * value / device for name, value in parts.items()}
    shares |= {
        "host": of_busy * (1 - of_device) * launches / host,
        "engine": of_busy * (1 - of_device) * (1 - launches / host),
        "sharding": repeated / total * (1 - of_work),
        "gradients": exposed / total,
        "optimizer": optimizer / total,
        "overhead": overhead / total,
        "waiting": waiting / (1 + waiting),
    }
    return Step(np.asarray(total), shares)


def formula_seconds(c: Configs, p: Mapping[str, float]) -> dict[str, Array]:
    """Seconds of each part by its own formula, of samples of one length: what a reader gets who recomputes it.

    Parts of the device, the host's work and sharded weights: of one micro-batch; the others: of one step. Waiting for
    the slowest has none: it is a share of the rest.
    """
    return _device_parts(c, p, 1.0) | {
        "host": _launch_seconds(c, p),
        "engine": engine.engine_seconds(c, p),
        "sharding": communication.sharded_seconds(c, p),
        "gradients": communication.gradient_seconds(c, p),
        "optimizer": _optimizer_seconds(c, p),
        "overhead": c.layers * 0 + p["step_ms"] * 1e-3,
    }


def _device_parts(c: Configs, p: Mapping[str, float], longest: Array | float) -> dict[str, Array]:
    """Seconds of one micro-batch on a device, part by part; `longest`: against samples of one length."""
    stage = c.stage_layers
    parts = {name: value * stage * longest for name, value in compute.layer_parts(c, p).items()}
    parts["logits"] = compute.head_seconds(c, p) * (p["unbalanced"] + (1 - p["unbalanced"]) / c.pp) * longest
    parts = {name: value if name in ELSEWHERE else value * c.device_scale for name, value in parts.items()}
    parts["split"] = (
        (communication.tensor_seconds(c, p) + communication.expert_seconds(c, p)) * stage
        + communication.pipeline_seconds(c, p)
        + _exposed(communication.context_seconds(c, p) * stage, parts["attention"])
    )
    return parts


def _launch_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the seconds that the host needs to launch one micro-batch."""
    return compute.host_seconds(c, p) * (c.stage_layers + OTHER_LAYERS)


def step_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Seconds of one optimizer step."""
    return step(c, p).seconds


def _longest(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the longest of the devices' micro-batches against their mean, where samples differ in length.

    1 + variation x E[largest of n standard normals] / sqrt(samples); the expectation is 0.564 (log2 n)^0.84 within 2 %
    up to n = 64. Source: order statistics, e.g. David and Nagaraja 2003, table 3.1.
    """
    import numpy as np

    samples = c.micro_batch * np.where(c.zero >= 3, 1.0, c.micro_batches)
    largest = LARGEST_OF_TWO * np.log2(c.dp) ** LARGEST_POWER
    return np.asarray(1 + c.variable_length * p["ragged"] * largest / np.sqrt(samples))


@computes("optimizer")
def _optimizer_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    import numpy as np

    held, (_, copies) = communication.held_parameters(c), communication.expert_copies(c)
    sharded = c.zero >= 1
    share = held.shared / np.where(sharded, c.dp * c.cp, 1.0) + held.expert / np.where(sharded, copies, 1.0)
    share = share * compute.trained_share(c)
    crossing = share / (p["offload_gb"] * 1e9)
    on_device = share * p["optimizer"] * c.optimizer_scale / (c.hbm * p["hbm"]) * c.device_scale
    return np.asarray(
        np.where(c.optimizer_offload > 0, crossing * OFFLOADED_BYTES, on_device + crossing * c.paged_bytes)
    )
