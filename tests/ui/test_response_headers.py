"""Headers of the running app's answers, and closed paths of its server."""

from __future__ import annotations

import asyncio
import http.client
from typing import Any

import pytest

from planner.ui.address_guard import ResponseHeaders

WANTED = {
    "content-security-policy": "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}


def answer(port: int, path: str, *, method: str = "GET", host: str = "localhost") -> tuple[int, list[tuple[str, str]]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, headers={"Host": f"{host}:{port}"})
        response = connection.getresponse()
        response.read()
        return response.status, [(name.lower(), value) for name, value in response.getheaders()]
    finally:
        connection.close()


def policies(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted((name, value) for name, value in headers if name in WANTED)


@pytest.mark.parametrize(
    ("path", "method", "host", "status"),
    [
        pytest.param("/", "GET", "localhost", 200, id="the page"),
        pytest.param("/", "HEAD", "localhost", 200, id="its head"),
        pytest.param("/prices", "GET", "localhost", 200, id="another page"),
        pytest.param("/_stcore/health", "GET", "localhost", 200, id="health"),
        pytest.param("/_stcore/host-config", "GET", "localhost", 200, id="settings"),
        pytest.param("/favicon.png", "GET", "localhost", 200, id="a file"),
        pytest.param("/media/nothing.csv", "GET", "localhost", 404, id="a download that is gone"),
        pytest.param("/_stcore/metrics", "GET", "localhost", 404, id="a closed path"),
        pytest.param("/", "GET", "evil.example", 403, id="refused"),
    ],
)
def test_every_answer_has_each_header_once(port: int, path: str, method: str, host: str, status: int) -> None:
    found, headers = answer(port, path, method=method, host=host)
    assert (found, policies(headers)) == (status, sorted(WANTED.items()))


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST"])
@pytest.mark.parametrize(
    "path",
    [
        *("/_stcore/metrics", "/_stcore/metrics/", "//_stcore/metrics", "/_stcore//metrics", "/%5Fstcore/metrics"),
        *("/_stcore/metrics?families=session", "/_stcore/agent/openapi.json", "/_stcore/agent/interact"),
        *("/_stcore/script-health-check",),
    ],
)
def test_closed_paths_say_nothing(port: int, path: str, method: str) -> None:
    status, headers = answer(port, path, method=method)
    assert status in (400, 404, 405)
    assert ("access-control-allow-origin", "*") not in headers


def test_a_header_of_the_app_is_replaced() -> None:
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        head = [(b"X-Content-Type-Options", b"none"), (b"Content-Security-Policy", b"default-src *"), (b"a", b"b")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": b"x"})

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(ResponseHeaders(app)({"type": "http", "path": "/"}, None, send))
    assert [(name.decode(), value.decode()) for name, value in sent[0]["headers"]] == [("a", "b"), *WANTED_IN_ORDER]
    assert sent[1]["body"] == b"x"


WANTED_IN_ORDER = [(name, WANTED[name]) for name in sorted(WANTED)]
