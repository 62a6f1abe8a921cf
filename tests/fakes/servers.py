"""Starts the loopback servers of tests, waits until they speak, and ends them by their process id."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FAKES = Path(__file__).parent


@dataclass(frozen=True)
class Server:
    """A server on loopback."""

    url: str
    pid: int

    def ask(self, path: str, **body: Any) -> Any:
        """Ask the fake itself: `POST /fake/<path>`."""
        return self.post(f"/fake/{path}", **body)

    def post(self, path: str, **body: Any) -> Any:
        """Ask as a client would."""
        return self.send(path, json.dumps(body))

    def send(self, path: str, text: str) -> Any:
        """Post a text and return what JSON comes back, if any."""
        kind = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", data=text.encode(), headers=kind, method="POST")
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
            return json.loads(text) if text else None


@contextlib.contextmanager
def running(name: str, *, log: Path, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Run `tests/fakes/<name>.py`, which prints its port once it listens, until the block is left."""
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, str(FAKES / f"{name}.py")],
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, **(environment or {})},
            text=True,
        )
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port.isdigit(), log.read_text(encoding="utf-8")
            yield Server(url=f"http://127.0.0.1:{port}", pid=process.pid)
        finally:
            process.terminate()
            process.communicate(timeout=30)


AWS_KEYS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""Keys that open nothing; the instance metadata service, which is no loopback address, is never asked."""
