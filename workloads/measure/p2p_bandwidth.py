"""Bandwidth from every device to every other one: one pair at a time, with the same library as training.

Uses NCCL between GPUs (NVLink, PCIe or through the host), gloo between processes on a CPU. A link that is slower than
its twins, or a pair that has to go through the host, shows here but in no all-reduce.
"""

from __future__ import annotations

import time
from typing import Callable, List, Optional

import torch
import torch.distributed as dist

from ..measure.agreement import RankAgreement
from ..measure.step_clock import synchronise

GB = 1e9
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
