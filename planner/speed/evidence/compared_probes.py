"""Comparison of a probe with others of the same kind of accelerator: each kind of kernel against their median."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from planner.model.evidence.probe import KIND_NAMES, KernelKind, ProbeRecord, same_kind

WORTH_SAYING = 0.02
"""Smallest difference that is reported. Nodes of one kind differ by 0.6 to 2 %."""


class Compared(NamedTuple):
    """One kind of kernel of a probe against the median of all probes of its kind."""

    kind: KernelKind
    rate: float
    """Rate of this probe over the median of all probes, including this one."""
    probes: int
    """Largest number of probes that measured a kernel of this kind."""


def compared(probe: ProbeRecord, probes: Sequence[ProbeRecord]) -> list[Compared]:
    """Return exp(mean of ln(median seconds / seconds)) by kind, over the kernels that two probes or more have."""
    seconds: dict[tuple[object, ...], list[float]] = defaultdict(list)
    for alike in same_kind(probe, probes):
        for kernel in alike.kernels:
            seconds[kernel.key].append(kernel.seconds)
    comparisons = []
    for kind, kernels in probe.of_kind.items():
        shared = [kernel for kernel in kernels if len(seconds[kernel.key]) > 1]
        if shared:
            logs = [math.log(statistics.median(seconds[kernel.key]) / kernel.seconds) for kernel in shared]
            most = max(len(seconds[kernel.key]) for kernel in shared)
            comparisons.append(Compared(kind, math.exp(statistics.mean(logs)), most))
    return comparisons


def comparison_text(probe: ProbeRecord, probes: Sequence[ProbeRecord]) -> str:
    """Return differences of 2 % or more ("matrix products 6 % below the median of 4"), or "" without other probes."""
    comparisons = compared(probe, probes)
    if not comparisons:
        return ""
    parts = [
        f"{KIND_NAMES[kind]} {abs(rate - 1):.0%} {'below' if rate < 1 else 'above'} the median of {count}".replace(
            "%", " %"
        )
        for kind, rate, count in comparisons
        if abs(rate - 1) >= WORTH_SAYING
    ]
    return "; ".join(parts) or f"as the median of {max(comparison.probes for comparison in comparisons)}"
