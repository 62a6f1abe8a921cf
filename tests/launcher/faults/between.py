"""A proxy between the product and the fake clouds, which passes requests on, or keeps silent, or answers itself."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

KEPT = ("content-length", "transfer-encoding", "connection", "proxy-connection")
"""Headers of one connection, which are not passed on."""
BETWEEN_BYTES_S = 0.05


@dataclass(frozen=True)
class Meddling:
    """Treatment of requests that hold a text in their path or body."""

    holding: str
    answer: bytes | None = None
    """None: it is never answered."""
    slowly: bool = False
    """The answer begins, and comes byte by byte for ever."""


@contextmanager
def between(*meddlings: Meddling) -> Iterator[str]:
    """Run the proxy until the block is left; yield its address."""
    over = threading.Event()

    class BetweenHandler(_Handler):
        rules, ended = meddlings, over

    with ThreadingHTTPServer(("127.0.0.1", 0), BetweenHandler) as server:
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            over.set()
            server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    rules: Sequence[Meddling]
    ended: threading.Event

    def do_GET(self) -> None:
        """Read a request, and do what the first rule says that fits."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        rule = next((rule for rule in self.rules if rule.holding.encode() in body + self.path.encode()), None)
        if rule is None:
            self._pass_on(body)
        elif rule.slowly:
            self._drip(rule.answer or b"")
        elif rule.answer is None:
            self.ended.wait()
        else:
            self._say(200, {"Content-Type": "text/html"}, rule.answer)

    do_POST = do_PUT = do_HEAD = do_DELETE = do_GET  # noqa: N815  the names that http.server wants

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _drip(self, begin: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(10**6))
        self.end_headers()
        try:
            self.wfile.write(begin)
            while not self.ended.wait(BETWEEN_BYTES_S):
                self.wfile.write(b" ")
                self.wfile.flush()
        except OSError:
            return  # the client has gone

    def _pass_on(self, body: bytes) -> None:
        url = urlsplit(self.path)
        connection = http.client.HTTPConnection(str(url.hostname), url.port, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in KEPT}
        path = f"{url.path or '/'}{'?' + url.query if url.query else ''}"
        connection.request(self.command, path, body=body or None, headers=headers)
        answer = connection.getresponse()
        said = {name: value for name, value in answer.getheaders() if name.lower() not in KEPT}
        try:
            text = answer.read()
        except http.client.IncompleteRead as cut:  # the fake of EC2 leaves regions out, and keeps moto's length
            text = cut.partial
        self._say(answer.status, said, text)
        connection.close()

    def _say(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
