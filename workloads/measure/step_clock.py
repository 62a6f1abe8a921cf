"""Seconds of each step, measured without making the host wait for the device inside the window.

On a CPU a step is over when it returns. On CUDA the host runs ahead: each step leaves an event in the device's queue,
and the times are read afterwards from events that have passed.
"""

from __future__ import annotations

import time
from typing import List

import torch

RUN_AHEAD_STEPS = 2  # steps that the host may be ahead of the device when it asks whether to continue


class StepClock:
    """Seconds from the end of one step to the end of the next, in order."""

    def __init__(self, device: torch.device) -> None:
        self._cuda = device.type == "cuda"
        self._marks: List[torch.cuda.Event] = []
        self._last_s = 0.0
        self.steps_started = 0
        self.step_seconds: List[float] = []

    def start(self) -> None:
        """Begin timing. Call with the device idle."""
        self._marks, self.step_seconds, self.steps_started = [], [], 0
        self._last_s = time.perf_counter()
        if self._cuda:
            self._mark_on_device()

    def step_done(self) -> None:
        """Note the end of a step, as the device will reach it."""
        self.steps_started += 1
        if self._cuda:
            self._mark_on_device()
            return
        now_s = time.perf_counter()
        self.step_seconds.append(now_s - self._last_s)
        self._last_s = now_s

    def read(self, *, to_the_end: bool = False) -> List[float]:
        """Return all step times known now. On CUDA, wait until the device is at most RUN_AHEAD_STEPS behind."""
        if self._cuda:
            waiting_for = len(self._marks) - 1 - (0 if to_the_end else RUN_AHEAD_STEPS)
            if waiting_for >= 0:
                self._marks[waiting_for].synchronize()
            while len(self._marks) > 1 and self._marks[1].query():  # type: ignore[no-untyped-call]
                self.step_seconds.append(self._marks[0].elapsed_time(self._marks[1]) / 1000.0)
                del self._marks[0]
        return self.step_seconds

    def _mark_on_device(self) -> None:
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        self._marks.append(event)


def synchronise(device: torch.device) -> None:
    """Wait until the device is idle. Only for the edges of the window."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
