"""Detects runs that left their device half empty. With a batch that is too small, all devices look the same."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.evidence.node_shapes import NodeResult
from planner.model.evidence.run import Probe
from planner.workloads.batch.micro_batch_probe import ROOM_SHARE, used_memory_share

WORTH_DOUBLING = 0.05


def room_for_more(result: NodeResult, probes: Sequence[Probe]) -> list[str]:
    """Return a sentence if under half of the memory was used and doubling the batch was over 5 % faster."""
    micro_batch = int(result.spec["micro_batch"])
    gain = gain_of_doubling(micro_batch, probes)
    used = used_memory_share(result.memory, result.environment, devices_per_node=result.devices_per_node)
    if gain is None or used is None or used >= ROOM_SHARE:
        return []
    return [
        f"the device is not full: it used {used:.0%} of its memory at micro-batch {micro_batch}, "
        f"and was {gain:.0%} faster at {2 * micro_batch}"
    ]


def gain_of_doubling(micro_batch: int, probes: Sequence[Probe]) -> float | None:
    """Return how much faster the double of a micro-batch is, as a share; None if it is not, or not enough."""
    speeds = {probe.micro_batch: probe.samples_per_s for probe in probes if probe.fits and probe.samples_per_s}
    if micro_batch not in speeds or 2 * micro_batch not in speeds:
        return None
    gain = speeds[2 * micro_batch] / speeds[micro_batch] - 1
    return gain if gain > WORTH_DOUBLING else None
