"""Data transfers: copies between host and device, files of a folder, and collectives between devices."""

from __future__ import annotations

import itertools
import os
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
import torch.distributed as dist

from ..measure.agreement import RankAgreement
from ..measure.calibration import collective_seconds, warm_seconds
from .plan import MIB, ProbePlan
from .rows import CANNOT, Rows, TimedCalls

FP32_BYTES = 4
MOST_READ_BYTES = 512 * MIB
READ_SECONDS = 3.0
MOST_FILES = 10_000
"""Largest number of files of a folder to look at."""
BLOCK_BYTES = 4 * MIB
WARM_GROUPS = 3
"""Groups of calls of which `warm_seconds` takes the best."""


def host_copies(plan: ProbePlan, rows: Rows, device: torch.device) -> None:
    """Measure copies between pinned host memory and the device, both ways."""
    if device.type != "cuda":
        rows.leave_out("host_to_device", "the device is the host")
        return
    num_bytes = plan.copy_mib * MIB // 4  # pinned memory cannot be swapped, and a quarter takes long enough to time
    device_buffer = torch.randint(255, (num_bytes,), dtype=torch.uint8, device=device)
    host_buffer = torch.empty(num_bytes, dtype=torch.uint8, pin_memory=True)
    for kind, copy in (
        ("host_to_device", lambda: device_buffer.copy_(host_buffer, non_blocking=True)),
        ("device_to_host", lambda: host_buffer.copy_(device_buffer, non_blocking=True)),
    ):
        rows.add(
            kind,
            {"bytes": num_bytes},
            partial(_warm, copy, device, plan.seconds_each),
        )


def _warm(work: Callable[[], object], device: torch.device, seconds: float) -> TimedCalls:
    return TimedCalls(warm_seconds(work, device, seconds), WARM_GROUPS)


def _together(work: Callable[[], object], agreement: RankAgreement, device: torch.device, seconds: float) -> TimedCalls:
    """Time a collective once all ranks support it. Otherwise the supporting ranks would wait for ever."""
    lacking = 0.0
    try:
        work()
    except CANNOT:
        lacking = 1.0
    if agreement.max_over_ranks([lacking])[0] > 0:
        raise RuntimeError("this backend lacks it")
    return TimedCalls(collective_seconds(work, agreement, device=device, seconds=seconds), 1)


def read_folder(folder: Optional[str], rows: Rows) -> None:
    """Read the files of a folder, largest first, for some seconds. The system's cache of them is dropped before."""
    if folder is None:
        rows.leave_out("read", "no data folder was named (--data)")
        return
    start = Path(folder)
    found = itertools.islice(start.rglob("*"), MOST_FILES)
    files = [start] if start.is_file() else [path for path in found if path.is_file()]
    sizes = sorted(((path.stat().st_size, path) for path in files), key=lambda pair: -pair[0])
    if not sizes or sizes[0][0] == 0:
        rows.leave_out("read", f"{start.name} holds no file with bytes in it")
        return
    paths = [path for size, path in sizes if size]
    read_bytes, seconds = _read(paths)
    rows.add("read", {"bytes": read_bytes}, lambda: TimedCalls(seconds, 1))


def _read(paths: List[Path]) -> Tuple[int, float]:
    read_bytes, start_s = 0, time.perf_counter()
    for path in paths:
        with path.open("rb", buffering=0) as file:
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            while block := file.read(BLOCK_BYTES):
                read_bytes += len(block)
                if read_bytes >= MOST_READ_BYTES or time.perf_counter() - start_s > READ_SECONDS:
                    return read_bytes, time.perf_counter() - start_s
    return read_bytes, time.perf_counter() - start_s


def collectives(
    plan: ProbePlan, rows: Rows, agreement: RankAgreement, *, rank: int, world_size: int, device: torch.device
) -> None:
    """Measure all-reduce, all-gather and reduce-scatter by size, among all devices and among powers of two of them.

    `bytes` is what each device holds for an all-reduce, after an all-gather, or before a reduce-scatter.
    """
    if world_size == 1:
        rows.leave_out("all_reduce", "one device alone")
        return
    for count in _counts(world_size):
        group = dist.new_group(list(range(count)))
        for mib in plan.collective_mib:
            for kind in ("all_reduce", "all_gather", "reduce_scatter"):
                work = _collective(kind, mib * MIB, group, count, device) if rank < count else lambda: None
                rows.add(
                    kind,
                    {"bytes": mib * MIB},
                    partial(_together, work, agreement, device, plan.seconds_each),
                    devices=count,
                    needed=True,
                )


def _counts(world_size: int) -> List[int]:
    counts = [2**power for power in range(1, world_size.bit_length()) if 2**power < world_size]
    return [*counts, world_size]


def _collective(kind: str, num_bytes: int, group: Any, count: int, device: torch.device) -> Callable[[], object]:
    numbers = num_bytes // FP32_BYTES // count * count
    whole = torch.randn(numbers, device=device)
    part = torch.randn(numbers // count, device=device)

    def scatter() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer torch has another name for it, older torch only this one
            dist.reduce_scatter_tensor(part, whole, op=dist.ReduceOp.MAX, group=group)

    works: Dict[str, Callable[[], object]] = {
        "all_reduce": lambda: dist.all_reduce(whole, op=dist.ReduceOp.MAX, group=group),
        "all_gather": lambda: dist.all_gather(list(whole.chunk(count)), part, group=group),
        "reduce_scatter": scatter,
    }
    return works[kind]
