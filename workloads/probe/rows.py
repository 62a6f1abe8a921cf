"""Figures of a probe, one row each, and what was left out and why."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, Mapping, Optional

from .cold_timer import TimedCalls

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
