"""Adds security headers to every answer of the app, and closes unneeded paths of its server.

The page's address contains the whole question, including an uploaded plan, so no other site may learn it
(Referrer-Policy). No page may embed the app, where it could cover the app's buttons with its own (frame-ancestors). A
browser must not guess the type of a download (nosniff). Streamlit sends none of these headers itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = (
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
)
"""Headers. With `no-referrer`, browsers would not even name the Origin of the app's own page."""
CLOSED = re.compile(r"/_stcore/(?:metrics|agent|script-health-check)(?:/|$)")
"""Paths with statistics of all sessions, with an interface for programs, and with a health check that runs the page."""


class ResponseHeaders:
    """Middleware that adds the headers to every answer, and answers 404 on the closed paths."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, and replace headers of the same names in its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = {name for name, _ in HEADERS}
                kept = [(name, value) for name, value in message["headers"] if name.lower() not in ours]
                message = {**message, "headers": [*kept, *HEADERS]}
            await send(message)

        if CLOSED.search(re.sub("/+", "/", scope["path"])):
            head = [(b"content-type", b"text/plain; charset=utf-8")]
            await send_with_headers({"type": "http.response.start", "status": 404, "headers": head})
            await send({"type": "http.response.body", "body": b"Not found\n"})
        else:
            await self._app(scope, receive, send_with_headers)
