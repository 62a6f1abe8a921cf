"""Rows of a probe's figures, what was left out and why, and the timer of single calls with cold caches.

Caches are cold because in training other kernels run before.
"""

from __future__ import annotations

import statistics
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional

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


CANNOT = (RuntimeError, NotImplementedError, ValueError, TypeError, AssertionError, AttributeError)
"""Errors that torch raises if a device, build, version or memory does not suffice."""


class Rows:
    """Collects figures until the time is over. A figure that cannot be measured is named with its reason."""

    def __init__(self, *, max_seconds: float) -> None:
        self._deadline_s = time.perf_counter() + max_seconds
        self.kernels: List[Dict[str, Any]] = []
        self.left_out: List[str] = []

    def add(
        self,
        kind: str,
        shape: Mapping[str, int],
        measure: Callable[[], TimedCalls],
        *,
        precision: Optional[str] = None,
        kernel: Optional[str] = None,
        compiled: bool = False,
        devices: int = 1,
        needed: bool = False,
    ) -> None:
        """Measure one figure.

        With `needed`, also after the time is over (every rank of a collective must take part).
        """
        name = " ".join(filter(None, (kind, precision, kernel, "compiled" if compiled else None)))
        if not needed and time.perf_counter() > self._deadline_s:
            self.leave_out(name, "the time was over")
            return
        try:
            timed = measure()
        except CANNOT as error:
            self.leave_out(name, str(error).splitlines()[0][:200] if str(error) else type(error).__name__)
            return
        self.kernels.append(
            {
                "kind": kind,
                "shape": dict(shape),
                "precision": precision,
                "kernel": kernel,
                "compiled": compiled,
                "devices": devices,
                "seconds": timed.seconds,
                "rounds": timed.rounds,
            }
        )

    def leave_out(self, name: str, why: str) -> None:
        """Note what was not measured. Repeats count once."""
        line = f"{name}: {why}"
        if line not in self.left_out:
            self.left_out.append(line)
