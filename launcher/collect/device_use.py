"""Detects runs that left their device half empty, or whose device waits for the host.

With a batch that is too small all devices look the same. With scattered step times the host is measured.
"""

from __future__ import annotations

import statistics
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


MIN_BUSY_SHARE = 0.80
"""Share of a step in which the device must be at work.

Under a profiler, in gpt-305m's steps at micro-batch 32, one H100 worked 98 % under DDP, 92 % under fsdp2, 82 % under
ZeRO-2 and 42 % under ZeRO-3. At micro-batch 4 it worked 41 % under DDP, with steps that scatter by 34 % (2026-11-26).
"""


def busy_share(result: NodeResult) -> float | None:
    """Return the share of a step in which the device works or waits for data; None if it was not measured.

    share = device_busy_seconds / mean step seconds + data_wait_s / window_s

    Waiting for data is not caused by the host's kernel launches. The verdict has its own sentence for it.
    """
    if result.device_busy_seconds is None or not result.step_seconds:
        return None
    waited = (result.data_wait_s or 0.0) / result.window_s if result.window_s else 0.0
    return result.device_busy_seconds / statistics.mean(result.step_seconds) + waited


def host_bound(result: NodeResult) -> list[str]:
    """Return a sentence if the device waits for the host. Scattered step times then need no second sentence."""
    share, busy_s = busy_share(result), result.device_busy_seconds
    if share is None or busy_s is None or share >= MIN_BUSY_SHARE:
        return []
    step_s = statistics.mean(result.step_seconds)
    return [
        f"host-bound: the device works for {busy_s:.3g} s of a {step_s:.3g} s step ({busy_s / step_s:.0%}; "
        f"{MIN_BUSY_SHARE:.0%} is the least) and waits for the host to start its kernels the rest of the time; take a "
        "larger --micro-batch, --compile or another --strategy"
    ]
