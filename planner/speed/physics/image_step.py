"""Seconds of one optimizer step of an image network, from its operators; more work never helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.quantity.formula import named
from planner.speed.physics.communication import ring_seconds
from planner.speed.physics.compute import BACKWARD, US
from planner.speed.physics.config_arrays import GENERATIONS
from planner.speed.physics.part_formula import computes
from planner.speed.physics.step import ELSEWHERE, HIDING_SHARPNESS, HOST_SHARPNESS, Step, smooth_maximum

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.image_config_arrays import ImageConfigs

SMALLEST_RATE = 1e-9
"""Instead of no loader, which is not divided by."""
PRODUCT_SHARPNESS = 3.0
"""A kernel multiplies and moves at once: the slower of the two shows, smoothly. Assumed."""
INPUT_SHARPNESS = 6.0
"""Images are decoded ahead: the slower of loading and computing shows almost alone. Assumed."""
BACKWARD_LAUNCHES = 2.0
"""Kernels of the backward pass, against the forward pass: one for each of a product's two inputs."""
WRITTEN_REPEATED = 3
"""A forward pass has one of so many parts of the passes over a written attention matrix."""
FP32_BYTES = 4.0
FLASH_BACKWARD = 2.5
"""Products of a fused attention kernel's backward pass, against its forward pass (Dao et al. 2022)."""
PARTS = ("products", "elementwise", "attention", "tail")


def summed_by(owners: Array, values: Array, count: int) -> Array:
    """Return the sum of the values of each owner; `np.bincount` takes no recorded numbers."""
    import numpy as np

    if values.dtype != object:
        return np.bincount(owners, values, minlength=count)
    sums = np.zeros(count, dtype=object)
    np.add.at(sums, owners, values)
    return sums


def conv_share(c: ImageConfigs, p: Mapping[str, float]) -> Array:
    """Share of the peak that large convolutions reach, by generation and number format."""
    import numpy as np

    table = np.array([p[f"conv_{name}"] for name in GENERATIONS])
    return np.asarray(table[c.generation.astype(int)] * np.where(c.vector_rate > 0, p["conv_vector"], 1.0))


def depthwise_gain(c: ImageConfigs, p: Mapping[str, float]) -> Array:
    """How much faster than generic kernels those are that libraries have for 16-bit images of channels last.

    gain = 1 + channels last x 16 bit x (depthwise_native - 1)
    """
    return 1 + c.channels_last * (c.number_bytes < 4) * (p["depthwise_native"] - 1)


@computes("products", "elementwise", "tail")
def device_parts(c: ImageConfigs, p: Mapping[str, float]) -> dict[str, Array]:
    """Device time of one micro-batch, forward and backward, part by part; kernels follow one another.

    products: of each, the slower of FLOPs / reached peak and bytes / bandwidth; and, for convolutions on tensor cores
    over images that lie in planes, turning its input and output round. Depthwise convolutions have no sum over channels
    that could feed tensor cores: ordinary ones compute them, at shares of their peak and of the bandwidth of their own.
    elementwise: bytes of batch norms and of
    element-wise operators / bandwidth; attention: a fused kernel's FLOPs, or the matrix written out; tail: idle time.
    """
    import numpy as np

    reached = c.hbm * p["hbm"]
    again, batch = c.recompute, c.micro_batch
    share = conv_share(c, p)
    each, of = c.products, c.products.of
    rate = c.peak[of] * np.minimum(1.0, share[of] * (1 + each.linear * (p["linear"] - 1)))
    gain = depthwise_gain(c, p)
    rate = np.where(each.depthwise > 0, (c.peak_vector * p["depthwise"] * gain)[of], rate)
    fewer = 1 - each.winograd * c.vector_rate[of] * (1 - p["winograd"])
    arithmetic = 2 * each.macs * batch[of] * fewer / rate
    traffic = c.number_bytes[of] * (each.moved * batch[of] + each.weights) * p["conv_bytes"]
    traffic = traffic * np.where(each.depthwise > 0, p["depthwise_bytes"] / gain[of], 1.0)
    in_planes = (1 - c.channels_last) * (c.vector_rate == 0) * (c.number_bytes < 4)
    turned = 2 * (c.number_bytes * batch * in_planes)[of] * each.turned * p["transposed"]
    one_pass = smooth_maximum(arithmetic, traffic / reached[of], PRODUCT_SHARPNESS) + turned / reached[of]
    seconds = named("operator_seconds", one_pass * (each.passes + again[of]) * each.repeats, "s")
    products = summed_by(of, seconds, len(c))
    fused = 1 - c.fused * (1 - p["fused_left"])
    norms = c.number_bytes * (c.norms + again * c.norms_forward) * p["norms"]
    pointwise = c.number_bytes * (c.narrow + again * c.narrow_forward) + FP32_BYTES * (c.wide + again * c.wide_forward)
    kernels = c.kernels * (1 + again + BACKWARD_LAUNCHES) * (1 - c.fused * (1 - p["host_fused"]))
    return {
        "products": products,
        "elementwise": batch * (norms + pointwise * p["pointwise"] * fused) / reached,
        "attention": _attention_seconds(c, p, np.minimum(1.0, share * p["linear"])),
        "tail": kernels * p["tail_us"] * US,
    }


@computes("attention")
def _attention_seconds(c: ImageConfigs, p: Mapping[str, float], share: Array) -> Array:
    """Every pair of tokens counts; written out, the matrix costs passes over memory."""
    import numpy as np

    flops = 2 * c.attention_macs * c.micro_batch
    kernel = flops / (c.peak16 * p["attention"]) * (1 + c.recompute + FLASH_BACKWARD)
    matrix = c.micro_batch * c.attention_matrix * c.number_bytes * p["softmax"] * (1 + c.recompute / WRITTEN_REPEATED)
    written = flops / (c.peak * share) * (1 + BACKWARD + c.recompute) + matrix / (c.hbm * p["hbm"])
    flash = c.flash * (1 - c.written)
    return np.asarray(flash * kernel + (1 - flash) * written)


@computes("host", "optimizer", "overhead", "waiting", "input")
def image_step(c: ImageConfigs, p: Mapping[str, float]) -> Step:
    """Compute seconds of one optimizer step and the shares of its parts.

    seconds = the slower of input and
              (micro-batches x slower of device and host + exposed gradients + optimizer + overhead) x (1 + waiting)
    """
    import numpy as np

    parts = {name: v if name in ELSEWHERE else v * c.device_scale for name, v in device_parts(c, p).items()}
    parts = {name: named(f"{name}_seconds", value, "s") for name, value in parts.items()}
    device = named("device_seconds", np.sum(list(parts.values()), axis=0), "s", "a micro-batch on the device")
    host = named("host_seconds", _host_seconds(c, p), "s", "launches of a micro-batch")
    busy = named("busy_seconds", smooth_maximum(device, host, HOST_SHARPNESS), "s", "the slower of device and host")
    of_device = (device / busy) ** HOST_SHARPNESS
    gradients, hiding = gradient_seconds(c, p), p["hidden_share"] * busy
    exposed = smooth_maximum(hiding, gradients, HIDING_SHARPNESS) - hiding
    optimizer = _optimizer_seconds(c, p)
    overhead = p["step_ms"] * 1e-3
    repeated = busy * c.micro_batches
    waiting = p["jitter"] * np.log2(c.gpus)
    computed = (repeated + exposed + optimizer + overhead) * (1 + waiting)
    loading = np.where(
        c.loader > 0,
        c.micro_batch * c.micro_batches * np.minimum(c.gpus, c.gpus_per_node) / np.maximum(c.loader, SMALLEST_RATE),
        0.0,
    )
    total = smooth_maximum(computed, loading, INPUT_SHARPNESS)
    of_computed = (computed / total) ** INPUT_SHARPNESS
    inside = of_computed / computed
    shares = {name: inside * repeated * of_device * value / device for name, value in parts.items()}
    shares |= {
        "host": inside * repeated * (1 - of_device),
        "gradients": inside * exposed,
        "optimizer": inside * optimizer,
        "overhead": inside * overhead,
        "waiting": of_computed * waiting / (1 + waiting),
        "input": 1 - of_computed,
    }
    return Step(np.asarray(total), shares)


def image_formula_seconds(c: ImageConfigs, p: Mapping[str, float]) -> dict[str, Array]:
    """Seconds of each part by its own formula: what a reader gets who recomputes it.

    Parts of the device and launches: of one micro-batch; the others: of one step.
    """
    return device_parts(c, p) | {
        "host": _host_seconds(c, p),
        "gradients": gradient_seconds(c, p),
        "optimizer": _optimizer_seconds(c, p),
        "overhead": c.parameters * 0 + p["step_ms"] * 1e-3,
    }


def _host_seconds(c: ImageConfigs, p: Mapping[str, float]) -> Array:
    """Seconds that the host needs to launch one micro-batch."""
    import numpy as np

    kernels = c.kernels * (1 + c.recompute + BACKWARD_LAUNCHES) * (1 - c.fused * (1 - p["host_fused"]))
    launchers = np.where(c.one_process > 0, c.gpus, 1.0)
    sharded = 1 + (c.zero >= 3) * (p["host_sharded"] - 1)
    return np.asarray(kernels * p["kernel_us"] * US * c.host_scale * launchers * sharded)


def _optimizer_seconds(c: ImageConfigs, p: Mapping[str, float]) -> Array:
    import numpy as np

    held = c.parameters / np.where(c.zero >= 1, c.dp, 1.0)
    return np.asarray(held * p["optimizer"] / (c.hbm * p["hbm"]) * c.device_scale)


def counted_bytes(c: ImageConfigs) -> Array:
    """Bytes that one image's operators read and write, forward and backward, weights and attention's matrix left out.

    Each product moves its input and output in each of its passes; fp32 under mixed precision is 4 bytes a number.
    """
    import numpy as np

    each = c.products
    moved = np.bincount(each.of, each.moved * each.passes * each.repeats, minlength=len(c))
    return np.asarray(c.number_bytes * (moved + c.norms + c.narrow) + FP32_BYTES * c.wide)


@computes("gradients")
def gradient_seconds(c: ImageConfigs, p: Mapping[str, float]) -> Array:
    """Time of what replicas exchange in one step: an all-reduce of gradients, or scatter, and gather of weights.

    Two rings a step; where weights are sharded three for each micro-batch, which gathers them twice and scatters
    gradients.
    """
    import numpy as np

    size = c.parameters * c.gradient_bytes
    ring = ring_seconds(c, p, size=size, devices=c.dp, stride=c.dp * 0 + 1)
    rings = 2 + np.where(c.zero >= 3, 3 * c.micro_batches - 2, 0.0)
    return np.asarray((c.dp > 1) * rings * ring)
