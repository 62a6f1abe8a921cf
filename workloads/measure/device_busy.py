"""Busy time of the device in one step: seconds in which at least one kernel or copy runs on it."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Iterable, List, Optional, Tuple

import torch

from ..measure.step_clock import synchronise

STEPS = 2

Interval = Tuple[float, float]


def busy_seconds(step: Callable[[], None], device: torch.device, *, profiles: bool = True) -> Optional[float]:
    """Run two steps and return the device's busy seconds in one; None on a CPU, where no step is run.

    seconds = length of the union of all kernels' and copies' times / steps

    NCCL's kernels are left out, because they also run while they wait for another device. Call it after the window and
    on every rank, because the steps are collective; a rank with `profiles=False` only runs them. Returns None, never an
    error, if the profiler does not work (no CUPTI, another tool holds it).
    """
    if device.type != "cuda":
        return None
    profiler = _started() if profiles else None
    for _ in range(STEPS):
        step()
    synchronise(device)
    intervals = _device_intervals(profiler) if profiler is not None else []
    return union(intervals) / 1e6 / STEPS if intervals else None


def union(intervals: Iterable[Interval]) -> float:
    """Return the length that is covered by at least one of the intervals."""
    covered, reached = 0.0, float("-inf")
    for start, end in sorted(intervals):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return covered


def _started() -> Optional[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
            profiler.start()
        return profiler
    except Exception:  # noqa: BLE001  (an extra figure: after any failure it is unknown)
        return None


def _device_intervals(profiler: Any) -> List[Interval]:
    """Return when work ran on the device, in microseconds. Annotations span idle time and are left out."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            profiler.stop()
            return [
                (event.time_range.start, event.time_range.end)
                for event in profiler.events()
                if event.device_type.name == "CUDA"
                and not getattr(event, "is_user_annotation", False)
                and not event.name.startswith("nccl")
            ]
    except Exception:  # noqa: BLE001
        return []
