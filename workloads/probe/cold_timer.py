"""Times single calls with cold caches, as kernels run in training after other kernels."""

from __future__ import annotations

import statistics
import time
from typing import Callable, NamedTuple

import torch

MOST_ROUNDS = 30
FEWEST_ROUNDS = 3
MIB = 2**20


class TimedCalls(NamedTuple):
    """Median seconds of one call, and the number of calls."""

    seconds: float
    rounds: int


class ColdTimer:
    """Times calls one by one. Before each, a buffer larger than the device's cache is written."""

    def __init__(self, device: torch.device, *, flush_mib: int, seconds_each: float) -> None:
        self.device = device
        self._seconds_each = seconds_each
        self._flush = torch.zeros(flush_mib * MIB // 4, dtype=torch.float32, device=device)

    def time(self, work: Callable[[], object], *, before: Callable[[], object] = lambda: None) -> TimedCalls:
        """Return the median of three calls or more, after one uncounted call (it compiles, or picks a kernel).

        `before` runs ahead of each call and is not timed.
        """
        before()
        first_s = self._once(work)
        before()
        rounds = [self._once(work)]
        wanted = max(FEWEST_ROUNDS, min(MOST_ROUNDS, int(self._seconds_each / max(rounds[0], 1e-7))))
        if min(first_s, rounds[0]) > self._seconds_each * FEWEST_ROUNDS:
            wanted = 1  # a call longer than the limit of all rounds is not repeated
        while len(rounds) < wanted:
            before()
            rounds.append(self._once(work))
        return TimedCalls(statistics.median(rounds), len(rounds))

    def _once(self, work: Callable[[], object]) -> float:
        self._flush.add_(1.0)
        if self.device.type != "cuda":
            start_s = time.perf_counter()
            work()
            return time.perf_counter() - start_s
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        begin.record()
        work()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1000.0
