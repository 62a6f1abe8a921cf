"""The output of a benchmark: kept in a log file where the disk has room, and its record read from the last line.

The output goes through a pipe and not straight into a file: on a full disk the record, which is the last line that
rank 0 prints, must still come through.
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
RECORD_START = b'{"schema_version"'
DRAIN_S = 10.0
"""For the rest of the output once torchrun has ended; only a process that outlives it could hold the pipe longer."""


class OutputLog:
    """The output of one process and its children."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tail: deque[bytes] = deque(maxlen=TAIL_LINES)
        self._record: bytes | None = None
        self._thread: threading.Thread | None = None

    def follow(self, process: subprocess.Popen[bytes]) -> None:
        """Read the process's output in a thread until its end."""
        assert process.stdout is not None
        self._thread = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait for the end of the output."""
        if self._thread is not None:
            self._thread.join(timeout=DRAIN_S)

    def tail(self) -> list[str]:
        """Return the last lines."""
        return [line.decode("utf-8", errors="replace").rstrip() for line in self._tail]

    def result(self) -> dict[str, Any] | None:
        """Return the record that was printed last; None where there was none."""
        if self._record is None:
            return None
        with contextlib.suppress(ValueError):
            document = json.loads(self._record)
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
                if line.startswith(RECORD_START):
                    self._record = line
                if file is not None:
                    with contextlib.suppress(OSError):  # full: go on reading, or the run would wait for us
                        file.write(line)
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()
