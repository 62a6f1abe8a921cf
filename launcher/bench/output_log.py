"""Follows a benchmark's output: writes it to a log file while the disk has room, and keeps the result that it prints.

The output goes through a pipe, not straight into a file. So the result, which rank 0 prints last, still arrives when
the disk is full.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections import deque
from pathlib import Path
from typing import IO, Any

TAIL_LINES = 15
"""Last lines that error messages quote."""
RESULT_START = b'{"schema_version"'
"""Beginning of the line with the result."""
DRAIN_S = 10.0
"""Longest wait for output after torchrun ended. Only a process that outlives torchrun could keep the pipe open."""


class OutputLog:
    """Output of one process and its children."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tail: deque[bytes] = deque(maxlen=TAIL_LINES)
        self._result: bytes | None = None
        self._thread: threading.Thread | None = None

    def follow(self, process: subprocess.Popen[bytes]) -> None:
        """Read the process's output in a thread until it ends."""
        assert process.stdout is not None
        self._thread = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait for the end of the output."""
        if self._thread is not None:
            self._thread.join(timeout=DRAIN_S)

    def tail(self) -> list[str]:
        """Return the last `TAIL_LINES` lines."""
        return [line.decode("utf-8", errors="replace").rstrip() for line in self._tail]

    def result(self) -> dict[str, Any] | None:
        """Return the result that was printed last; None if there was none."""
        if self._result is None:
            return None
        with contextlib.suppress(ValueError):
            document = json.loads(self._result)
            if document.get("kind") == "result":
                return dict(document)
        return None

    def _read(self, output: IO[bytes]) -> None:
        file: IO[bytes] | None = None
        with contextlib.suppress(OSError):
            file = self.path.open("wb", buffering=0)
        with output:
            for line in output:
                self._tail.append(line)
                if line.startswith(RESULT_START):
                    self._result = line
                if file is not None:
                    with contextlib.suppress(OSError):  # the disk is full: keep reading, or the run would wait for us
                        file.write(line)
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()
