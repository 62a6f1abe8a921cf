"""Starts commands that are forked from one process, which has read Python, boto3 and most of the planner once.

Each is still a process of its own: it can be killed, stopped and interrupted, and it starts its workers itself.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.marked_processes import until

ROOT = Path(__file__).parents[3]
PROCESS = Path(__file__).with_name("forking_process.py")
LONGEST_NUMBER = 20


class ForkedCommand:
    """Running command that another process has forked, with the methods of `subprocess.Popen`."""

    def __init__(self, ends: socket.socket, outputs: Sequence[int]) -> None:
        self._ends = ends
        self._outputs = [os.fdopen(reading, encoding="utf-8", errors="replace") for reading in outputs]
        self.pid = int(ends.recv(LONGEST_NUMBER))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the command runs."""
        return self._code(0.0)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Wait for the end and return what was said on stdout and stderr."""
        with ThreadPoolExecutor(2) as pool:
            reading = [pool.submit(output.read) for output in self._outputs]
            if self._code(timeout) is None:
                self.kill()
                raise TimeoutError(f"the command ran for more than {timeout:g} s")
            out, err = (answer.result() for answer in reading)
        for output in self._outputs:
            output.close()
        self._ends.close()
        return out, err

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the command, unless it has ended."""
        self.send_signal(signal.SIGKILL)

    def wait_until_stopped(self) -> None:
        """Wait until the command has been stopped by a signal."""
        state = Path(f"/proc/{self.pid}/stat")
        until(lambda: state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T")

    def _code(self, timeout_s: float) -> int | None:
        if self.returncode is None and select.select([self._ends], [], [], timeout_s)[0]:
            self.returncode = int(self._ends.recv(LONGEST_NUMBER))
        return self.returncode


class Forks:
    """Client of the process in forking_process.py."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def begin(self, *arguments: str, environment: Mapping[str, str], folder: Path) -> ForkedCommand:
        """Start a command of the planner's in `folder`, with nothing to read and this environment alone."""
        ours, theirs = socket.socketpair()
        out, err = os.pipe(), os.pipe()
        request = {"arguments": arguments, "environment": dict(environment), "folder": str(folder)}
        handed = [theirs.fileno(), out[1], err[1]]
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], handed)
        finally:
            theirs.close()
            os.close(out[1])
            os.close(err[1])
        return ForkedCommand(ours, [out[0], err[0]])


@contextmanager
def forking(environment: Mapping[str, str]) -> Iterator[Forks]:
    """Start the process that forks, and end it."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", str(PROCESS), str(theirs.fileno())],
                cwd=ROOT,
                env=dict(environment) | {"PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        yield Forks(ours)
    assert process.wait(timeout=60) == 0
