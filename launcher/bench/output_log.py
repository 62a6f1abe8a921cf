"""Output of a benchmark: kept in a log file if the disk has room. Its record is read from the last line.

The output goes through a pipe, not straight into a file. So the record, which rank 0 prints last, still arrives when
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
RECORD_START = b'{"schema_version"'
DRAIN_S = 10.0
"""Time to wait for remaining output after torchrun ended.

Only a process that outlives it could hold the pipe longer.
"""


class OutputLog:
    """Output of one process and its children."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tail: deque[bytes] = deque(maxlen=TAIL_LINES)
        self._record: bytes | None = None
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
        """Return the last lines."""
        return [line.decode("utf-8", errors="replace").rstrip() for line in self._tail]

    def result(self) -> dict[str, Any] | None:
        """Return the record that was printed last; None if there was none."""
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
                    with contextlib.suppress(OSError):  # the disk is full: keep reading, or the run would wait for us
                        file.write(line)
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()
