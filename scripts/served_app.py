"""Serves the app in a process of its own on a free local port, for tests, pictures and benchmarks."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
START_TRIES = 240


@contextmanager
def served(command: Callable[[int], Sequence[str]], folder: Path, **environment: str) -> Iterator[int]:
    """Start the app, yield its port, and end the process, which must be the app itself, not its parent."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = os.environ | {"PLANNER_HOME": str(folder / "planner-home"), "PYTHONPATH": str(ROOT)} | environment
    log = folder / "log.txt"
    with log.open("w") as file:
        server = subprocess.Popen(command(port), stdout=file, stderr=subprocess.STDOUT, env=variables)
        try:
            wait_until_healthy(port, server, log)
            yield port
        finally:
            server.terminate()
            server.wait(timeout=30)
            with socket.socket() as gone:
                assert gone.connect_ex(("127.0.0.1", port)) != 0


def wait_until_healthy(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the app answers. Raises RuntimeError with its log if it ends or takes a minute."""
    pause = threading.Event()
    for _ in range(START_TRIES):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/_stcore/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        finally:
            connection.close()
        if server.poll() is not None:
            break
        pause.wait(0.25)
    raise RuntimeError(f"the app did not start:\n{log.read_text()}")


BROWSER_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
"""Options for a Chromium without background traffic."""
