"""How a probe compares with others of the same kind of accelerator: each kind of kernel against their median."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from planner.model.evidence.probe import KIND_NAMES, KernelKind, ProbeRecord, same_kind

WORTH_SAYING = 0.02
"""Nodes of one kind differ by 0.6 to 2 %."""


class Compared(NamedTuple):
    """One kind of kernel of a probe against the median of all probes of its kind."""

    kind: KernelKind
    rate: float
    """Of this probe against the median of all, itself among them."""
    probes: int


def compared(probe: ProbeRecord, probes: Sequence[ProbeRecord]) -> list[Compared]:
    """Return exp(mean of ln(median seconds / seconds)) by kind, over the kernels that two probes or more have."""
    alike = same_kind(probe, probes)
    seconds: dict[tuple[object, ...], list[float]] = defaultdict(list)
    for one in alike:
        for kernel in one.kernels:
            seconds[kernel.key].append(kernel.seconds)
    found = []
    for kind, kernels in probe.of_kind.items():
        shared = [kernel for kernel in kernels if len(seconds[kernel.key]) > 1]
        if shared:
            logs = [math.log(statistics.median(seconds[kernel.key]) / kernel.seconds) for kernel in shared]
            most = max(len(seconds[kernel.key]) for kernel in shared)
            found.append(Compared(kind, math.exp(statistics.mean(logs)), most))
    return found


def comparison_text(probe: ProbeRecord, probes: Sequence[ProbeRecord]) -> str:
    """Write what differs by 2 % or more: "matrix products 6 % below the median of 4"; "" where there is no other."""
    found = compared(probe, probes)
    if not found:
        return ""
    parts = [
        f"{KIND_NAMES[one.kind]} {abs(one.rate - 1):.0%} {'below' if one.rate < 1 else 'above'} the median of "
        f"{one.probes}".replace("%", " %")
        for one in found
        if abs(one.rate - 1) >= WORTH_SAYING
    ]
    return "; ".join(parts) or f"as the median of {max(one.probes for one in found)}"
