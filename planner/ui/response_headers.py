"""What the app tells a browser with every answer, and the paths of its server that nobody needs.

The page's address holds the whole question, an uploaded plan too, so no other site may learn it (Referrer-Policy). No
page may show the app within itself, where it could lay its own buttons over those of the app (frame-ancestors). What is
downloaded is what its type says (nosniff). Streamlit sends none of these by itself.
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
"""`same-origin` and not `no-referrer`, under which browsers name no Origin of the app's own page either."""
CLOSED = re.compile(r"/_stcore/(?:metrics|agent|script-health-check)(?:/|$)")
"""Numbers about all sessions, an interface for programs, and a run of the page by anybody who asks for its health."""


class ResponseHeaders:
    """Adds the headers to every answer, and answers 404 on the closed paths."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request; its answer is sent with our headers in the place of others of the same name."""
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
