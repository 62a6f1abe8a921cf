"""One probe in the search for a micro-batch: how fast it was, and whether that micro-batch is usable."""

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
"""Short window of a probe: a second of warm-up after compilation, then four steps, or more if they are short.

The warm-up has a fixed length, so it is not judged for steadiness.
"""
PROBE_ACCUMULATION = 2
"""Micro-batches in a step, if the run itself has as many. With two, accumulated gradients take up memory."""
MAX_MEMORY_FRACTION = 0.95
"""Highest safe share of the device's memory. A fuller device retries allocations sooner or later."""
ROOM_SHARE = 0.5
"""Share of the memory below which a larger batch is tried after the run."""


class TriedBatch(Protocol):
    """Fields of a probe that the search needs."""

    @property
    def samples_per_s(self) -> Optional[float]:
        """Rate; null if nothing was measured."""

    @property
    def fits(self) -> bool:
        """True if the micro-batch is usable."""

    @property
    def device_memory_fraction(self) -> Optional[float]:
        """Share of the fullest device's memory; None on a CPU or if nothing was measured."""


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
        """True if the micro-batch is usable."""
        return self.samples_per_s is not None and self.refused is None


def probe_of(result: Mapping[str, Any]) -> ProbeResult:
    """Read a result.json as a probe.

    The micro-batch is usable if every rank finished, no allocator had to retry, and no device was over 95 % full. On a
    CPU only running out of memory counts against it.
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
    """Return the share of the device's memory that a run used (of the machine's on a CPU); None if unknown."""
    device_gib, reserved_gib = memory.get("device_gib"), memory.get("peak_reserved_gib")
    if device_gib and reserved_gib is not None:
        return reserved_gib / device_gib
    ram_gib, rss_gib = environment.get("ram_gib"), memory.get("peak_rss_gib")
    if isinstance(ram_gib, (int, float)) and ram_gib > 0 and rss_gib is not None:
        return float(rss_gib * devices_per_node / ram_gib)
    return None
