"""Seconds of one optimizer step from its parts, with the host's work for DeepSpeed; and of one kernel that runs alone.

All parts are joined by sums or smooth maxima, so more work never makes a step shorter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from planner.quantity.formula import applied, named
from planner.scenario.training_setup import LARGEST_OF_TWO, LARGEST_POWER
from planner.speed.physics import communication, compute
from planner.speed.physics.compute import FORWARD_SHARE, host_age
from planner.speed.physics.config_arrays import Configs
from planner.speed.physics.part_formula import computes, forward_again, trained_share

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

OTHER_LAYERS = 2.0
"""Host work of a micro-batch outside its layers, in layers: embedding, head, loss, the training loop."""
HOST_SHARPNESS = 6.0
"""Exponent of the smooth maximum of device and host: launches run ahead, so the slower one dominates. Assumed."""
HIDING_SHARPNESS = 3.0
"""Exponent for traffic that overlaps with work: most of the shorter one is hidden. Assumed."""
SMALLEST_SECONDS, SMALLEST_RATIO = 1e-30, 1e-100
"""Replacements for 0, to avoid its logarithm."""
OFFLOADED_BYTES = 16.0
"""Bytes per parameter through CPU and PCIe in an offloaded step: weight, gradient, two moments (Rajbhandari et al.
2020, section 3)."""


def smooth_maximum(first: Array, second: Array, exponent: float) -> Array:
    """Return (a^k + b^k)^(1/k). It is the sum at k = 1, approaches the maximum as k grows, and rises with a and b.

    It is computed as larger x (1 + ratio^k)^(1/k) with logarithms, because powers would be most of a step's time.
    """
    import numpy as np

    if object in (np.asarray(first).dtype, np.asarray(second).dtype):  # recorded numbers
        by_element = np.frompyfunc(lambda a, b: applied("smooth_max", _smooth_max, a, b, exponent), 2, 1)
        return np.asarray(by_element(first, second))
    top = np.maximum(np.maximum(first, second), SMALLEST_SECONDS)
    ratio = np.maximum(np.minimum(first, second) / top, SMALLEST_RATIO)
    return np.asarray(top * np.exp(np.log(1 + np.exp(exponent * np.log(ratio))) / exponent))


def _smooth_max(first: float, second: float, exponent: float) -> float:
    """Return the smooth maximum of two plain numbers."""
    top = max(first, second)
    return top * (1 + (min(first, second) / top) ** exponent) ** (1 / exponent) if top > 0 else 0.0


def _exposed(traffic: Array, work: Array) -> Array:
    """Return the seconds of traffic that are not hidden by simultaneous work."""
    return smooth_maximum(traffic, work, HIDING_SHARPNESS) - work


AT_THE_STEP = 0.5
"""Share of stage 2's work in the optimizer step; the rest is done in each backward pass. Source: deepspeed 0.19.8 on a
CPU with 16 layers of a GPT needs 9.5 ms more per backward pass than without the engine, and 10 ms at the step."""
TENSORS_OF_A_LAYER, TENSORS_OF_AN_ADAPTER = 12, 2
"""Tensors of the GPT block on which the stages were measured, and of a low-rank adapter."""
MS = 1e-3
"""Seconds of a millisecond."""


@computes("engine")
def engine_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the seconds that DeepSpeed's engine needs on the host for one micro-batch; 0 without DeepSpeed.

    Stage 1 copies, reduces and checks every gradient once per optimizer step; a micro-batch has its share of that.
    Stage 2 reduces gradients in every backward pass. Stage 3 gathers and releases the weights of every module with
    hooks, in each forward and backward pass. The work depends on the number of tensors or modules and hardly on their
    sizes. Stage 3 is assumed to take at least as long as stage 2. Experts that are called one by one have their own
    hooks; other experts count as one MLP.
    """
    import numpy as np

    tensors = np.where(c.adapters > 0, c.adapted_maps * TENSORS_OF_AN_ADAPTER / TENSORS_OF_A_LAYER, 1.0)
    times = np.where(c.zero >= 2, AT_THE_STEP + (1 - AT_THE_STEP) * c.micro_batches, 1.0)
    replicated = p["zero2_ms"] * tensors * times / c.micro_batches
    modules = 1 + c.sequential_experts * c.experts * c.mlp_matrices / TENSORS_OF_A_LAYER
    sharded = p["zero3_ms"] * modules * (1 + FORWARD_SHARE * forward_again(c))
    layer = np.where(c.zero >= 3, np.maximum(sharded, replicated), replicated) * MS * host_age(c, p)
    return np.asarray(c.deepspeed * (c.zero >= 1) * c.stage_layers * layer)


OFF_THE_DEVICE = ("tail", "split", "host", "engine", "sharding", "gradients", "overhead", "waiting", "input")
"""Parts of a step in which the accelerator does not compute: gaps between kernels, links, host, waiting, storage."""


class Step(NamedTuple):
    """Seconds of one step, and the influence of each part on it: d ln seconds / d ln part."""

    seconds: Array
    shares: dict[str, Array]

    @property
    def device_share(self) -> Array:
        """Influence of the accelerator's own time on the step: d ln seconds / d ln device time."""
        import numpy as np

        return np.asarray(np.sum([share for name, share in self.shares.items() if name not in OFF_THE_DEVICE], axis=0))


@computes("overhead", "waiting")
def step(c: Configs, p: Mapping[str, float]) -> Step:
    """Compute seconds of one optimizer step and the shares of its parts.

    seconds = ((micro-batches + bubble) x micro-batch + exposed gradients + optimizer + overhead) x (1 + waiting)
    micro-batch = smooth maximum of compute and sharded traffic
    compute = smooth maximum of device and host
    bubble = (stages - 1) / virtual stages

    The host launches kernels and does DeepSpeed's work (`engine_seconds`). The device also waits for tensor and expert
    traffic, which is not hidden, and for context traffic, which attention over earlier blocks hides (Liu et al. 2023).
    """
    import numpy as np

    longest = _longest(c, p)
    parts = _device_parts(c, p, longest)
    launches = _launch_seconds(c, p) * longest
    host = launches + engine_seconds(c, p)
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
    """Return the seconds of each part by its own formula, so that a reader can recompute it.

    Parts of the device, the host's work and sharded weights are those of one micro-batch, the others those of one step.
    All samples have one length. Waiting for the slowest device has no formula here, because it is a share of the rest.
    """
    return _device_parts(c, p, 1.0) | {
        "host": _launch_seconds(c, p),
        "engine": engine_seconds(c, p),
        "sharding": communication.sharded_seconds(c, p),
        "gradients": communication.gradient_seconds(c, p),
        "optimizer": _optimizer_seconds(c, p),
        "overhead": c.layers * 0 + p["step_ms"] * 1e-3,
    }


def _device_parts(c: Configs, p: Mapping[str, float], longest: Array | float) -> dict[str, Array]:
    """Return the seconds of one micro-batch on a device, by part; `longest` is the factor for samples that differ."""
    stage = c.stage_layers
    parts = {name: value * stage * longest for name, value in compute.layer_parts(c, p).items()}
    parts["logits"] = compute.head_seconds(c, p) * (p["unbalanced"] + (1 - p["unbalanced"]) / c.pp) * longest
    parts = {name: value if name in OFF_THE_DEVICE else value * c.device_scale for name, value in parts.items()}
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
    """Return the seconds of one optimizer step."""
    return step(c, p).seconds


def _longest(c: Configs, p: Mapping[str, float]) -> Array:
    """Return the longest of the devices' micro-batches over their mean; 1 if all samples have one length.

    longest / mean = 1 + variation x E[largest of n standard normals] / sqrt(samples)

    The expectation is 0.564 (log2 n)^0.84, within 2 % up to n = 64. Source: order statistics, e.g. David and Nagaraja
    2003, table 3.1.
    """
    import numpy as np

    samples = c.micro_batch * np.where(c.zero >= 3, 1.0, c.micro_batches)
    largest = LARGEST_OF_TWO * np.log2(c.dp) ** LARGEST_POWER
    return np.asarray(1 + c.variable_length * p["ragged"] * largest / np.sqrt(samples))


@computes("optimizer")
def _optimizer_seconds(c: Configs, p: Mapping[str, float]) -> Array:
    import numpy as np

    owned, (_, copies) = communication.device_parameters(c), communication.expert_copies(c)
    sharded = c.zero >= 1
    share = owned.shared / np.where(sharded, c.dp * c.cp, 1.0) + owned.expert / np.where(sharded, copies, 1.0)
    share = share * trained_share(c)
    crossing = share / (p["offload_gb"] * 1e9)
    on_device = share * p["optimizer"] * c.optimizer_scale / (c.hbm * p["hbm"]) * c.device_scale
    return np.asarray(
        np.where(c.optimizer_offload > 0, crossing * OFFLOADED_BYTES, on_device + crossing * c.paged_bytes)
    )


PARTS = {
    "products": ("products", "traffic"),
    "attention": ("attention",),
    "elementwise": ("elementwise",),
    "loss": ("logits",),
    "optimizer": ("optimizer",),
    "launches": ("host",),
    "layer": ("products", "traffic", "attention", "elementwise", "tail", "host"),
    "all_reduce": ("gradients",),
    "all_gather": ("sharding",),
    "reduce_scatter": ("sharding",),
}
"""Parts of a step that each kind of kernel measures."""


def lone_parts(kind: str, c: Configs, p: Mapping[str, float], size: Array) -> dict[str, Array]:
    """Return the seconds of a kernel that is measured alone, by part.

    A layer takes the smooth maximum of its device and host time, as in a step; its parts are weighted by their
    influence. `size`: bytes of a collective. An all-reduce is two rings.
    """
    if kind in ("all_reduce", "all_gather", "reduce_scatter"):
        ring = communication.ring_seconds(c, p, size=size, devices=c.dp, stride=c.tp)
        return {"gradients": 2 * ring} if kind == "all_reduce" else {"sharding": ring * c.sharding_scale}
    if kind == "launches":
        return {"host": compute.host_seconds(c, p)}
    seconds = formula_seconds(c, p)
    if kind != "layer":
        return {part: seconds[part] for part in PARTS[kind]}
    import numpy as np

    parts = {part: seconds[part] for part in PARTS[kind] if part != "host"}
    device, host = np.sum(list(parts.values()), axis=0), compute.host_seconds(c, p)
    busy = smooth_maximum(device, host, HOST_SHARPNESS)
    of_device = (device / busy) ** HOST_SHARPNESS
    return {part: busy * of_device * value / device for part, value in parts.items()} | {"host": busy * (1 - of_device)}
