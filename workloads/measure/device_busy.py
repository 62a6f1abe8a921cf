"""Measures how long a device works in a step, the memory it really holds, and how fast each rank is by itself.

In a training step collectives make all ranks as slow as the slowest, so step times cannot identify it.
"""

from __future__ import annotations

import statistics
import time
import warnings
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import torch
from torch import Tensor

from ..measure.step_clock import synchronise
from ..strategies import TrainingStrategy

CUDA_SIZE, CUDA_PRODUCTS = 2048, 100  # about 2 ms on an H200, 25 MB
CPU_SIZE, CPU_PRODUCTS = 256, 4
ROUNDS = 9


def own_work_seconds(device: torch.device) -> float:
    """Return the median seconds of a round of matrix products. The device is still warm from training.

    Uses bf16 on CUDA if it is native, otherwise fp32, and random numbers, because zeros draw less power and run faster.
    """
    on_cuda = device.type == "cuda"
    size, products = (CUDA_SIZE, CUDA_PRODUCTS) if on_cuda else (CPU_SIZE, CPU_PRODUCTS)
    dtype = torch.bfloat16 if on_cuda and torch.cuda.is_bf16_supported() else torch.float32
    generator = torch.Generator(device=device).manual_seed(0)
    left, right = (torch.randn(size, size, generator=generator, device=device).to(dtype) for _ in range(2))
    product = torch.empty_like(left)
    rounds = []
    for _ in range(ROUNDS):
        synchronise(device)
        start_s = time.perf_counter()
        for _ in range(products):
            torch.mm(left, right, out=product)
        synchronise(device)
        rounds.append(time.perf_counter() - start_s)
    return statistics.median(rounds)


GRADIENT_BYTES = "gradient_bytes"


def state_bytes(strategy: TrainingStrategy) -> Dict[str, int]:
    """Return what this rank holds now. Gradients exist only between `backward` and `update`."""
    state = strategy.state_tensors()
    return {
        "parameter_bytes": bytes_behind(state.parameters),
        GRADIENT_BYTES: bytes_behind(state.gradients),
        "optimizer_bytes": bytes_behind(state.optimizer),
    }


def bytes_behind(tensors: Iterable[Tensor]) -> int:
    """Return the memory that the tensors keep. A view keeps its whole buffer; two views of one buffer keep it once."""
    buffers = (tensor.untyped_storage() for tensor in tensors)
    return sum({buffer.data_ptr(): buffer.nbytes() for buffer in buffers}.values())


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
