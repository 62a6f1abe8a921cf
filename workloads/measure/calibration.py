"""Best rates of this node, measured just before the run: matrix products, copies, all-reduce, and pairs of devices.

A run is compared with them: no training step multiplies faster than plain products of the best size. A link that is
slower than its twins, or a pair that has to go through the host, shows in the rates of pairs but in no all-reduce.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
import torch.distributed as dist

from ..measure.agreement import RankAgreement
from ..measure.step_clock import synchronise
from ..strategies.precision import PrecisionContexts

MIB = 2**20
GB = 1e9
TFLOP = 1e12
MAX_ROUNDS = 1000
MEMORY_SHARE = 0.5
FP32_BYTES = 4


@dataclass(frozen=True)
class CalibrationPlan:
    """Measurements for one kind of device, with the time limit of one figure."""

    matmul_sizes: Tuple[int, ...]
    copy_mib: int
    all_reduce_mib: Tuple[int, ...]
    peer_mib: int
    peer_rounds: int
    seconds_each: float
    max_seconds: float


ON_CUDA = CalibrationPlan(
    (2048, 4096, 8192, 16384), 1024, (1, 8, 64, 256, 1024), 256, 8, seconds_each=1.5, max_seconds=90.0
)
ON_CPU = CalibrationPlan((256, 512, 1024), 32, (1, 4, 16, 64), 4, 2, seconds_each=0.2, max_seconds=30.0)
"""Small plan: on a CPU these buffers stay in the peak of the process's memory."""


def calibrate(
    precision: PrecisionContexts,
    agreement: RankAgreement,
    *,
    rank: int,
    world_size: int,
    device: torch.device,
    plan: Optional[CalibrationPlan] = None,
) -> Dict[str, Any]:
    """Return the figures of the slowest rank, the same on every rank. All ranks must call it together.

    Sizes that were not reached within `max_seconds`, or that need over half of the free memory, are left out of the
    tables. All ranks measure at the same time, as they do in training.
    """
    plan = plan or (ON_CUDA if device.type == "cuda" else ON_CPU)
    start_s = time.perf_counter()

    def possible(num_bytes: int) -> bool:
        here = [time.perf_counter() - start_s, num_bytes / _free_bytes(device)]
        elapsed_s, memory_share = agreement.max_over_ranks(here)
        return elapsed_s < plan.max_seconds and memory_share < MEMORY_SHARE

    dtype = precision.low_type or torch.float32
    own_by_size: Dict[int, float] = {}
    for size in plan.matmul_sizes:
        if size == plan.matmul_sizes[0] or possible(5 * size**2 * FP32_BYTES):
            own_by_size[size] = matmul_tflop_per_s(size, dtype, device, seconds=plan.seconds_each)
    by_rank = agreement.gather_from_ranks(max(own_by_size.values()))
    copies = (
        copies_gb_per_s(plan.copy_mib * MIB, device, seconds=plan.seconds_each)
        if possible(2 * plan.copy_mib * MIB)
        else {}
    )
    all_reduce: Dict[str, float] = {}
    for mib in plan.all_reduce_mib if world_size > 1 else ():
        if possible(mib * MIB):
            all_reduce[f"{mib}_mib"] = all_reduce_bus_gb_per_s(
                mib * MIB, agreement, world_size=world_size, device=device, seconds=plan.seconds_each
            )
    peers: Matrix = []
    if world_size > 1:
        peers = peer_gb_per_s(
            plan.peer_mib * MIB,
            agreement,
            rank=rank,
            world_size=world_size,
            device=device,
            rounds=plan.peer_rounds,
            possible=lambda: possible(plan.peer_mib * MIB),
        )
    _forget(device)
    return {
        "matmul_dtype": str(dtype).split(".")[-1],
        "matmul_tflop_per_s": min(by_rank),
        "rank_matmul_tflop_per_s": by_rank,
        "matmul_tflop_per_s_by_size": _slowest({str(size): rate for size, rate in own_by_size.items()}, agreement),
        "device_copy_gb_per_s": None,
        "host_to_device_gb_per_s": None,
        "device_to_host_gb_per_s": None,
        **_slowest(copies, agreement),
        "all_reduce_bus_gb_per_s_by_size": all_reduce,
        "peer_gb_per_s": peers,
        "seconds": agreement.max_over_ranks([time.perf_counter() - start_s])[0],
    }


def matmul_tflop_per_s(size: int, dtype: torch.dtype, device: torch.device, *, seconds: float) -> float:
    """Return 2 size^3 / s of a square product of random numbers. Zeros would draw less power and run faster."""
    generator = torch.Generator(device=device).manual_seed(0)
    left, right = (torch.randn(size, size, generator=generator, device=device).to(dtype) for _ in range(2))
    product = torch.empty_like(left)
    return 2.0 * size**3 / warm_seconds(lambda: torch.mm(left, right, out=product), device, seconds) / TFLOP


def copies_gb_per_s(num_bytes: int, device: torch.device, *, seconds: float) -> Dict[str, float]:
    """Return GB/s of copies on the device (read and write both counted), and between it and pinned host memory."""
    source = torch.randint(255, (num_bytes,), dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    rates = {"device_copy_gb_per_s": 2 * num_bytes / warm_seconds(lambda: target.copy_(source), device, seconds) / GB}
    if device.type == "cuda":
        host = torch.empty(num_bytes, dtype=torch.uint8, pin_memory=True)
        to_device_s = warm_seconds(lambda: target.copy_(host, non_blocking=True), device, seconds)
        to_host_s = warm_seconds(lambda: host.copy_(source, non_blocking=True), device, seconds)
        rates["host_to_device_gb_per_s"] = num_bytes / to_device_s / GB
        rates["device_to_host_gb_per_s"] = num_bytes / to_host_s / GB
    return rates


def all_reduce_bus_gb_per_s(
    num_bytes: int, agreement: RankAgreement, *, world_size: int, device: torch.device, seconds: float
) -> float:
    """Return 2 (n - 1) / n x bytes / s. If links are the limit, this does not depend on the number of ranks n.

    Source: nccl-tests, doc/PERFORMANCE.md. The seconds are those of the slowest rank.
    """
    buffer = torch.ones(num_bytes // FP32_BYTES, dtype=torch.float32, device=device)
    one_s = collective_seconds(
        lambda: dist.all_reduce(buffer, op=dist.ReduceOp.MAX), agreement, device=device, seconds=seconds
    )
    return 2 * (world_size - 1) / world_size * num_bytes / one_s / GB


MAX_RANKS = 16
"""Most ranks to measure. A larger matrix has too many pairs for the time."""
Matrix = List[List[Optional[float]]]


def peer_gb_per_s(
    num_bytes: int,
    agreement: RankAgreement,
    *,
    rank: int,
    world_size: int,
    device: torch.device,
    rounds: int,
    possible: Callable[[], bool],
) -> Matrix:
    """Return GB/s from each rank (row) to each other one (column): bytes x rounds / s of the slower of the two.

    Null on the diagonal and for pairs that did not fit into the time. `possible` must agree on every rank. All ranks
    call this together and wait while a pair is at work.
    """
    ranks = min(world_size, MAX_RANKS)
    buffer = torch.ones(num_bytes, dtype=torch.uint8, device=device)

    def send(source: int, target: int, times: int) -> float:
        agreement.wait_for_all()
        start_s = time.perf_counter()
        if rank in (source, target):
            peer, work = (target, dist.isend) if rank == source else (source, dist.irecv)
            for _ in range(times):
                for request in dist.batch_isend_irecv([dist.P2POp(work, buffer, peer)]):
                    request.wait()
            synchronise(device)
        return agreement.max_over_ranks([time.perf_counter() - start_s if rank in (source, target) else 0.0])[0]

    matrix: Matrix = [[None] * ranks for _ in range(ranks)]
    for source in range(ranks):
        for target in range(ranks):
            if source != target and possible():
                send(source, target, 1)  # the first one sets up the connection
                matrix[source][target] = num_bytes * rounds / send(source, target, rounds) / GB
    return matrix


def collective_seconds(
    work: Callable[[], object], agreement: RankAgreement, *, device: torch.device, seconds: float
) -> float:
    """Return the mean seconds, on the slowest rank, of one call that all ranks make together."""

    def rounds_s(rounds: int) -> float:
        agreement.wait_for_all()
        start_s = time.perf_counter()
        for _ in range(rounds):
            work()
        synchronise(device)
        return agreement.max_over_ranks([time.perf_counter() - start_s])[0]

    rounds_s(1)  # the first one sets up connections
    rounds = rounds_within(rounds_s(1), seconds)  # from an agreed time, so that every rank runs the same number
    return rounds_s(rounds) / rounds


def warm_seconds(work: Callable[[], object], device: torch.device, seconds: float) -> float:
    """Return the mean seconds of one call in the best of three groups, after one uncounted call."""
    seconds_of_group(work, device, rounds=1)
    rounds = rounds_within(seconds_of_group(work, device, rounds=1), seconds / 3)
    means_s: List[float] = [seconds_of_group(work, device, rounds=rounds) for _ in range(3)]
    return min(means_s)


def seconds_of_group(work: Callable[[], object], device: torch.device, *, rounds: int) -> float:
    """Return the mean seconds of consecutive calls."""
    synchronise(device)
    start_s = time.perf_counter()
    for _ in range(rounds):
        work()
    synchronise(device)
    return (time.perf_counter() - start_s) / rounds


def rounds_within(one_s: float, seconds: float) -> int:
    """Return how many calls of `one_s` seconds fit, at least one."""
    return max(1, min(MAX_ROUNDS, int(seconds / max(one_s, 1e-9))))


def _slowest(rates: Dict[str, float], agreement: RankAgreement) -> Dict[str, float]:
    return dict(zip(rates, [-rate for rate in agreement.max_over_ranks([-rate for rate in rates.values()])]))


def _free_bytes(device: torch.device) -> float:
    return float(torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else float("inf")


def _forget(device: torch.device) -> None:
    """Give the memory back, so that the run's peaks contain only its own."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
