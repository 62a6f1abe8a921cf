"""Seconds of a kernel that runs alone, by the formulas of the step's parts that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from planner.speed.physics import communication, compute
from planner.speed.physics.config_arrays import Configs
from planner.speed.physics.step import HOST_SHARPNESS, formula_seconds, smooth_maximum

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

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
