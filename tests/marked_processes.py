"""Processes that carry a mark in their environment: none escapes by a session or a parent of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import uuid
from collections.abc import Callable
from pathlib import Path

MARK = "TESTS_MARK"
GONE_S = 10.0
"""Time after which no process of a stopped benchmark may run."""


class MarkedProcesses:
    """All processes that were started, however indirectly, with `variables`."""

    def __init__(self) -> None:
        self.variables = {MARK: uuid.uuid4().hex}
        self._mark = f"{MARK}={self.variables[MARK]}".encode()

    def commands(self) -> dict[int, list[str]]:
        """Return the command line of each, by process id; zombies have none and are left out."""
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self._mark in (process / "environ").read_bytes().split(b"\0"):
                    found[int(process.name)] = (process / "cmdline").read_bytes().decode().split("\0")
        return found

    def of(self, module: str) -> list[int]:
        """Return the processes that Python was started in with `-m module`, as its own program."""
        return [pid for pid, command in self.commands().items() if command[1:3] in (["-m", module], ["-u", "-m"])
                and module in command[2:4]]  # fmt: skip

    def running(self, program: str) -> bool:
        """Return whether one of them is this program."""
        return any(Path(command[0]).name == program for command in self.commands().values())

    def are_gone(self) -> None:
        """Check that all end in time."""
        until(lambda: not self.commands(), timeout_s=GONE_S, what=lambda: f"left behind: {self.commands()}")

    def kill(self) -> None:
        """Leave nothing behind for the next test."""
        for pid in self.commands():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def until(
    condition: Callable[[], bool], *, timeout_s: float = 90.0, what: Callable[[], str] = lambda: "did not happen"
) -> None:
    """Look until the condition holds."""
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, what()
        time.sleep(0.05)
