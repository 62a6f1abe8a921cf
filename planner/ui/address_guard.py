"""Lets only the app's own page talk to the app, and no page of another site or local port.

In DNS rebinding, a browser reaches 127.0.0.1 by an attacker's name and sends that name as Host. A foreign page that
connects to the app is named in Origin. Streamlit checks no Host and compares no ports.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from planner.errors import InputError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
PUBLIC_URL = "PLANNER_UI_PUBLIC_URL"
"""Environment variable with the addresses, separated by spaces, under which a proxy serves the app."""
DEFAULT_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")


def public_origins() -> tuple[str, ...]:
    """Return the public addresses in the form of an Origin header."""
    return tuple(origin_of(url) for url in os.environ.get(PUBLIC_URL, "").split())


def origin_of(url: str) -> str:
    """Return scheme, host and port of a web address, without a default port. Raises InputError if it is invalid."""
    try:
        parts = urlsplit(url.rstrip("/"))
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = parts.hostname or ""
    only_origin = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme not in DEFAULT_PORTS or not _NAME.fullmatch(host) or not only_origin:
        raise InputError(
            f"{url} is not an address under which an app can be reached.",
            fix="Write scheme and name as the browser shows them, e.g. https://plans.example.org",
        )
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}" + ("" if port in (None, DEFAULT_PORTS[parts.scheme]) else f":{port}")


def refusal(
    hosts: Sequence[str], origins: Sequence[str], *, scheme: str, port: int, public: Sequence[str] = ()
) -> str | None:
    """Return why a request with these Host and Origin headers is refused; None if it comes from the app's own page."""
    host = hosts[0].lower() if len(hosts) == 1 else ""
    local = {_origin(scheme, name, port) for name in LOCAL_NAMES}
    own_origin = f"{scheme}://{host.removesuffix(f':{DEFAULT_PORTS[scheme]}')}"
    if own_origin not in local and host not in {origin.partition("://")[2] for origin in public}:
        return f"Host is not the app's address: {', '.join((*sorted(local), *public))}."
    allowed = (own_origin, *public) if own_origin in local else public
    if origins and (len(origins) > 1 or origins[0].lower() not in allowed):
        return "Origin is not the app's address: only its own page may talk to it."
    return None


class AddressGuard:
    """Middleware that answers 403 to requests and WebSockets of other pages before Streamlit sees them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._public = public_origins()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests of the app's own page, and refuse others."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        why = refusal(
            _header_values(scope, b"host"),
            _header_values(scope, b"origin"),
            scheme="https" if scope["scheme"] in ("https", "wss") else "http",
            port=scope["server"][1],
            public=self._public,
        )
        if why is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": why})  # before it is accepted: a 403
        else:
            head = [(b"content-type", b"text/plain; charset=utf-8"), (b"x-content-type-options", b"nosniff")]
            await send({"type": "http.response.start", "status": 403, "headers": head})
            await send({"type": "http.response.body", "body": f"{why}\n".encode()})


def _header_values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _origin(scheme: str, name: str, port: int) -> str:
    return f"{scheme}://{name}" + ("" if port == DEFAULT_PORTS[scheme] else f":{port}")


SECURITY_HEADERS = (
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
)
"""Headers of every answer. The policy is not `no-referrer`, because browsers would then hide the page's Origin."""
UNSERVED_PATHS = re.compile(r"/_stcore/(?:metrics|agent|script-health-check)(?:/|$)")
"""Paths that are not served: statistics of all sessions, an interface for programs, a check that runs the page."""


class ResponseHeaders:
    """Middleware that adds security headers to every answer, and answers 404 on the closed paths.

    The page's address contains the whole question, including an uploaded plan, so no other site may learn it
    (Referrer-Policy). No page may embed the app, where it could cover the app's buttons with its own
    (frame-ancestors). A browser must not guess the type of a download (nosniff). Streamlit sends none of these headers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, and replace headers of the same names in its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own_names = {name for name, _ in SECURITY_HEADERS}
                others = [(name, value) for name, value in message["headers"] if name.lower() not in own_names]
                message = {**message, "headers": [*others, *SECURITY_HEADERS]}
            await send(message)

        if UNSERVED_PATHS.search(re.sub("/+", "/", scope["path"])):
            head = [(b"content-type", b"text/plain; charset=utf-8")]
            await send_with_headers({"type": "http.response.start", "status": 404, "headers": head})
            await send({"type": "http.response.body", "body": b"Not found\n"})
        else:
            await self._app(scope, receive, send_with_headers)
