"""Seconds of one optimizer step of an image network, from its operators. More work never makes a step shorter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.quantity.formula import named
from planner.speed.physics.communication import ring_seconds
from planner.speed.physics.compute import US
from planner.speed.physics.config_arrays import GENERATIONS
from planner.speed.physics.part_formula import BACKWARD, computes
from planner.speed.physics.step import HIDING_SHARPNESS, HOST_SHARPNESS, OFF_THE_DEVICE, Step, smooth_maximum

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.image_config_arrays import ImageConfigs

SMALLEST_RATE = 1e-9
"""Replacement for a loader rate of 0, to avoid a division by zero."""
PRODUCT_SHARPNESS = 3.0
"""Exponent of the smooth maximum of a kernel's arithmetic and memory traffic, which overlap. Assumed."""
INPUT_SHARPNESS = 6.0
"""Exponent of the smooth maximum of loading and computing: images are decoded ahead, so they overlap well. Assumed."""
BACKWARD_LAUNCHES = 2.0
"""Kernels of the backward pass / kernels of the forward pass: one for each of a product's two inputs."""
WRITTEN_REPEATED = 3
"""Passes over a stored attention matrix in forward and backward / passes in the forward pass."""
FP32_BYTES = 4.0
FLASH_BACKWARD = 2.5
"""Products of a fused attention kernel's backward pass / products of its forward pass (Dao et al. 2022)."""
PARTS = ("products", "elementwise", "attention", "tail")


def summed_by(owners: Array, values: Array, count: int) -> Array:
    """Return the sum of each owner's values; `np.bincount` does not accept recorded numbers."""
    import numpy as np

    if values.dtype != object:
        return np.bincount(owners, values, minlength=count)
    sums = np.zeros(count, dtype=object)
    np.add.at(sums, owners, values)
    return sums


def conv_share(c: ImageConfigs, p: Mapping[str, float]) -> Array:
    """Return the share of the peak that large convolutions reach, by generation and number format."""
    import numpy as np

    table = np.array([p[f"conv_{name}"] for name in GENERATIONS])
    return np.asarray(table[c.generation.astype(int)] * np.where(c.vector_rate > 0, p["conv_vector"], 1.0))


def depthwise_gain(c: ImageConfigs, p: Mapping[str, float]) -> Array:
    """Return the rate of depthwise kernels over that of generic ones.

    Libraries have fast kernels for 16-bit images in channels-last order only:
    gain = 1 + channels last x 16 bit x (depthwise_native - 1)
    """
    return 1 + c.channels_last * (c.number_bytes < 4) * (p["depthwise_native"] - 1)


@computes("products", "elementwise", "tail")
def device_parts(c: ImageConfigs, p: Mapping[str, float]) -> dict[str, Array]:
    """Return the device time of one micro-batch, forward and backward, by part.

    - products: for each product the slower of FLOPs / reached peak and bytes / bandwidth. Convolutions on tensor cores
      also transpose inputs and outputs that are stored in planes. Depthwise convolutions have no sum over channels for
      tensor cores, so ordinary cores compute them, with their own shares of peak and bandwidth.
    - elementwise: bytes of batch norms and of element-wise operators / bandwidth
    - attention: FLOPs of a fused kernel, or of an eager kernel with passes over the stored matrix
    - tail: idle time between kernels

    Kernels run one after another, so the parts add up.
    """
    import numpy as np

    reached = c.hbm * p["hbm"]
    again, batch = c.recompute, c.micro_batch
    share = conv_share(c, p)
    table, owner = c.products, c.products.owner
    rate = c.peak[owner] * np.minimum(1.0, share[owner] * (1 + table.linear * (p["linear"] - 1)))
    gain = depthwise_gain(c, p)
    rate = np.where(table.depthwise > 0, (c.peak_vector * p["depthwise"] * gain)[owner], rate)
    multiplied = 1 - table.winograd * c.vector_rate[owner] * (1 - p["winograd"])
    arithmetic = 2 * table.macs * batch[owner] * multiplied / rate
    traffic = c.number_bytes[owner] * (table.moved * batch[owner] + table.weights) * p["conv_bytes"]
    traffic = traffic * np.where(table.depthwise > 0, p["depthwise_bytes"] / gain[owner], 1.0)
    in_planes = (1 - c.channels_last) * (c.vector_rate == 0) * (c.number_bytes < 4)
    transposed = 2 * (c.number_bytes * batch * in_planes)[owner] * table.turned * p["transposed"]
    one_pass = smooth_maximum(arithmetic, traffic / reached[owner], PRODUCT_SHARPNESS) + transposed / reached[owner]
    seconds = named("operator_seconds", one_pass * (table.passes + again[owner]) * table.repeats, "s")
    products = summed_by(owner, seconds, len(c))
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
    """Return the time of attention: a fused kernel's FLOPs, or those of an eager one with passes over the matrix.

    Every pair of tokens counts, because image networks have no causal mask.
    """
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

    parts = {name: v if name in OFF_THE_DEVICE else v * c.device_scale for name, v in device_parts(c, p).items()}
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
    """Return the seconds of each part by its own formula, so that a reader can recompute it.

    Parts of the device and launches are those of one micro-batch, the others those of one step.
    """
    return device_parts(c, p) | {
        "host": _host_seconds(c, p),
        "gradients": gradient_seconds(c, p),
        "optimizer": _optimizer_seconds(c, p),
        "overhead": c.parameters * 0 + p["step_ms"] * 1e-3,
    }


def _host_seconds(c: ImageConfigs, p: Mapping[str, float]) -> Array:
    """Return the seconds that the host needs to launch one micro-batch."""
    import numpy as np

    kernels = c.kernels * (1 + c.recompute + BACKWARD_LAUNCHES) * (1 - c.fused * (1 - p["host_fused"]))
    launchers = np.where(c.one_process > 0, c.gpus, 1.0)
    sharded = 1 + (c.zero >= 3) * (p["host_sharded"] - 1)
    return np.asarray(kernels * p["kernel_us"] * US * c.host_scale * launchers * sharded)


def _optimizer_seconds(c: ImageConfigs, p: Mapping[str, float]) -> Array:
    import numpy as np

    owned = c.parameters / np.where(c.zero >= 1, c.dp, 1.0)
    return np.asarray(owned * p["optimizer"] / (c.hbm * p["hbm"]) * c.device_scale)


def counted_bytes(c: ImageConfigs) -> Array:
    """Return the bytes that one image's operators read and write, forward and backward.

    Each product moves its input and output in each of its passes; fp32 under mixed precision is 4 bytes per number.
    Weights and attention matrices are not counted.
    """
    import numpy as np

    table = c.products
    moved = np.bincount(table.owner, table.moved * table.passes * table.repeats, minlength=len(c))
    return np.asarray(c.number_bytes * (moved + c.norms + c.narrow) + FP32_BYTES * c.wide)


@computes("gradients")
def gradient_seconds(c: ImageConfigs, p: Mapping[str, float]) -> Array:
    """Return the seconds in which replicas exchange gradients or weights in one step.

    An all-reduce of gradients takes two rings per step. With sharded weights each micro-batch takes three: two gathers
    of weights and one reduce-scatter of gradients.
    """
    import numpy as np

    size = c.parameters * c.gradient_bytes
    ring = ring_seconds(c, p, size=size, devices=c.dp, stride=c.dp * 0 + 1)
    rings = 2 + np.where(c.zero >= 3, 3 * c.micro_batches - 2, 0.0)
    return np.asarray((c.dp > 1) * rings * ring)
