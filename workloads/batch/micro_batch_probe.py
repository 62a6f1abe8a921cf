"""One probe of the search for a micro-batch: how fast it was, and whether that micro-batch can be taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Protocol

from ..contract import failure

PROBE_WINDOW: Dict[str, float] = {
    "min_warmup_steps": 2,
    "min_warmup_s": 1.0,
    "max_warmup_s": 1.0,
    "min_steps": 4,
    "min_s": 1.0,
    "max_s": 20.0,
}
"""A second of warm-up after compilation, then four steps, or more if they are short. Its warm-up has a fixed length, so
it is not judged for steadiness."""
PROBE_ACCUMULATION = 2
"""Micro-batches in a step, if the run itself has as many: with two, accumulated gradients take up memory."""
MAX_MEMORY_FRACTION = 0.95
"""Of the device: one filled further retries allocations sooner or later."""
ROOM_SHARE = 0.5
"""Of the memory: below it, a run is asked whether a larger batch would be faster."""


class Tried(Protocol):
    """What the search has to know of a probe."""

    @property
    def samples_per_s(self) -> Optional[float]:
        """Null where nothing was measured."""

    @property
    def fits(self) -> bool:
        """Whether it can be taken."""

    @property
    def device_memory_fraction(self) -> Optional[float]:
        """Share of the fullest device's memory; None on a CPU and where nothing was measured."""


@dataclass(frozen=True)
class ProbeResult:
    """One short try, with the fields of a run record's probe."""

    micro_batch: int
    grad_accumulation: int
    samples_per_s: Optional[float]
    refused: Optional[str]
    device_memory_fraction: Optional[float]

    @property
    def fits(self) -> bool:
        """Whether it can be taken."""
        return self.samples_per_s is not None and self.refused is None


def probe_of(result: Mapping[str, Any]) -> ProbeResult:
    """Read a result.json as a probe.

    It can be taken where every rank came to the end, no allocator had to try again, and no device was filled over
    95 %. On a CPU there is no device to fill: only running out of memory speaks against it.
    """
    spec, memory = result["spec"], result["memory"]
    reserved_gib, device_gib = memory.get("peak_reserved_gib"), memory.get("device_gib")
    fraction = reserved_gib / device_gib if reserved_gib is not None and device_gib else None
    reason = result["exit_reason"]
    measured = reason == failure.COMPLETED and result["window_s"] > 0
    refused = None
    if reason == failure.OUT_OF_MEMORY:
        refused = "out of memory"
    elif not measured:
        refused = f"it ended with '{reason}'"
    elif memory.get("allocator_retries"):
        refused = f"the allocator had to try again {memory['allocator_retries']:.0f} times"
    elif fraction is not None and fraction > MAX_MEMORY_FRACTION:
        refused = f"it fills {fraction:.0%} of the device (up to {MAX_MEMORY_FRACTION:.0%} is safe)"
    return ProbeResult(
        micro_batch=int(spec["micro_batch"]),
        grad_accumulation=int(spec["grad_accumulation"]),
        samples_per_s=result["samples"] / result["window_s"] if measured else None,
        refused=refused,
        device_memory_fraction=fraction,
    )


def failed_probe(spec: Mapping[str, Any], reason: str) -> ProbeResult:
    """Return the probe of a run that left nothing, such as one that the system killed for its memory."""
    return ProbeResult(
        micro_batch=int(spec["micro_batch"]),
        grad_accumulation=int(spec["grad_accumulation"]),
        samples_per_s=None,
        refused=reason.splitlines()[0],
        device_memory_fraction=None,
    )


def used_memory_share(
    memory: Mapping[str, Optional[float]], environment: Mapping[str, Any], *, devices_per_node: int
) -> Optional[float]:
    """Return the share of the device's memory that a run used; of the machine's on a CPU. None where not known."""
    device_gib, reserved_gib = memory.get("device_gib"), memory.get("peak_reserved_gib")
    if device_gib and reserved_gib is not None:
        return reserved_gib / device_gib
    ram_gib, rss_gib = environment.get("ram_gib"), memory.get("peak_rss_gib")
    if isinstance(ram_gib, (int, float)) and ram_gib > 0 and rss_gib is not None:
        return float(rss_gib * devices_per_node / ram_gib)
    return None
