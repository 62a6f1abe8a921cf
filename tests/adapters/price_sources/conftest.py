"""A server on this machine that stands for a vendor's; it stops by itself when the test is done."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from planner.adapters.price_sources.source import Names
from tests.bundled import bundled_catalog


@dataclass
class Reply:
    """One answer: whole, endless (`repeat`), or shorter than announced."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    repeat: bool = False
    announce: int | None = None


@dataclass
class Vendor:
    """The server: what it answers by path, what it was asked, how much it could send."""

    url: str
    replies: dict[str, Reply]
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    sent: int = 0


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    vendor = Vendor("", {})

    class PriceSourceHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            vendor.asked.append((self.path, dict(self.headers)))
            reply = vendor.replies.get(self.path, Reply(status=404))
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if not reply.repeat:
                self.send_header("Content-Length", str(reply.announce or len(reply.body)))
            self.end_headers()
            with contextlib.suppress(OSError):  # the reader has hung up, as it should
                while True:
                    self.wfile.write(reply.body)
                    vendor.sent += len(reply.body)
                    if not reply.repeat:
                        break

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), PriceSourceHandler) as server:
        vendor.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield vendor
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def names() -> Names:
    return Names(bundled_catalog().nodes)


@pytest.fixture
def make_reply() -> type[Reply]:
    return Reply


@pytest.fixture
def broken_for(monkeypatch):
    """Let a source's reading of one part break as no list of errors foresees."""

    def make(source, part):
        read = source._add

        def add(*arguments, **named):
            if part in arguments:
                raise AttributeError("'NoneType' object has no attribute 'strip'")
            read(*arguments, **named)

        monkeypatch.setattr(source, "_add", add)

    return make


def says_so(problem, what):
    return problem.startswith(f"{what}: its answer cannot be read: AttributeError(")
