"""Knows what one probe of the search for a micro-batch says: how fast, and whether that micro-batch can be taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.errors import NodeError
from planner.model.run import Probe
from planner.model.workload import Window
from workloads import failure

PROBE_WINDOW = Window(min_warmup_steps=3, min_warmup_s=0.0, max_warmup_s=1.0, min_steps=5, min_s=1.0, max_s=20.0)
"""A second to warm up after the first step, then five steps, more where they are short. Not judged for steadiness."""
MAX_MEMORY_FRACTION = 0.95
"""Of the device: one filled further retries allocations sooner or later."""


def probe_of(result: Mapping[str, Any]) -> Probe:
    """Read a result.json as a probe.

    It can be taken where every rank came to the end, no allocator had to try again, and no device was filled over
    95 %. On a CPU there is no device to fill: only running out of memory speaks against it.
    """
    spec, memory = result["spec"], result["memory"]
    reserved_gib, device_gib = memory.get("peak_reserved_gib"), memory.get("device_gib")
    fraction = reserved_gib / device_gib if reserved_gib is not None and device_gib else None
    reason = result["exit_reason"]
    measured = reason in (failure.COMPLETED, failure.NOT_STEADY) and result["window_s"] > 0
    refused = None
    if reason == failure.OUT_OF_MEMORY:
        refused = "out of memory"
    elif not measured:
        refused = f"it ended with '{reason}'"
    elif memory.get("allocator_retries"):
        refused = f"the allocator had to try again {memory['allocator_retries']:.0f} times"
    elif fraction is not None and fraction > MAX_MEMORY_FRACTION:
        refused = f"it fills {fraction:.0%} of the device (up to {MAX_MEMORY_FRACTION:.0%} is safe)"
    return Probe(
        micro_batch=int(spec["micro_batch"]),
        grad_accumulation=int(spec["grad_accumulation"]),
        samples_per_s=result["samples"] / result["window_s"] if measured else None,
        refused=refused,
        device_memory_fraction=fraction,
    )


def failed_probe(spec: Mapping[str, Any], error: NodeError) -> Probe:
    """Return the probe of a run that left nothing, such as one that the system killed for its memory."""
    return Probe(
        micro_batch=int(spec["micro_batch"]),
        grad_accumulation=int(spec["grad_accumulation"]),
        samples_per_s=None,
        refused=error.message.splitlines()[0],
    )
