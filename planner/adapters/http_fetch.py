"""Fetches one document over HTTP: streamed, cut at a size, with a time limit; every failure is one plain sentence."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from planner.errors import PriceSourceError

if TYPE_CHECKING:
    from http.client import HTTPResponse

TIMEOUT_S = 30.0
LIMIT_BYTES = 100_000_000
CHUNK_BYTES = 65_536
REFUSALS = {401: "the key is missing or wrong", 403: "access is refused", 404: "there is nothing at this address"}
BUSY = 429


@dataclass(frozen=True)
class Fetched:
    """A document and the day it was last changed, where the server says."""

    data: bytes
    last_modified: date | None


def fetch(
    url: str, *, what: str, headers: Mapping[str, str] | None = None, timeout_s: float = TIMEOUT_S,
    limit_bytes: int = LIMIT_BYTES,
) -> Fetched:  # fmt: skip
    """Fetch `url`; `what` names the source in errors.

    `timeout_s` is for each read and for the whole transfer; a response is cut off, unread, beyond `limit_bytes`.
    """
    import urllib.error
    import urllib.request
    from http.client import HTTPException

    if not url.startswith(("https://", "http://")):
        raise PriceSourceError(f"{what}: {url} is no web address.", fix="Write it with https:// in front.")
    request = urllib.request.Request(url, headers={"User-Agent": "training-planner"} | dict(headers or {}))
    end = time.monotonic() + timeout_s
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            return _read(response, what=what, end=end, timeout_s=timeout_s, limit_bytes=limit_bytes)
    except urllib.error.HTTPError as error:
        with error:
            reason = REFUSALS.get(error.code, "too many requests" if error.code == BUSY else "the server failed")
        raise PriceSourceError(f"{what}: answered {error.code}: {reason}.", fix=_fix(error.code)) from error
    except TimeoutError as error:
        raise _too_slow(what, timeout_s) from error
    except (urllib.error.URLError, HTTPException, OSError) as error:
        cause = getattr(error, "reason", error)
        if isinstance(cause, TimeoutError):
            raise _too_slow(what, timeout_s) from error
        problem = f"{what}: cannot be reached: {str(cause) or type(cause).__name__}."
        raise PriceSourceError(problem, fix="Check the network, or try again later.") from error


def _read(response: HTTPResponse, *, what: str, end: float, timeout_s: float, limit_bytes: int) -> Fetched:
    parts: list[bytes] = []
    size = 0
    while part := response.read1(CHUNK_BYTES):
        size += len(part)
        if size > limit_bytes:
            raise PriceSourceError(
                f"{what}: the answer is longer than {limit_bytes / 1e6:g} MB and was cut off.",
                fix="This is no price list of the known kind; nothing of it was taken.",
            )
        if time.monotonic() > end:
            raise _too_slow(what, timeout_s)
        parts.append(part)
    data = b"".join(parts)
    announced = response.headers.get("Content-Length")
    if announced is not None and announced.isdecimal() and size < int(announced):
        raise PriceSourceError(f"{what}: the answer ended after {size} of {announced} bytes.", fix="Try again.")
    if "html" in response.headers.get("Content-Type", "").lower() or data[:200].lstrip().lower().startswith(
        (b"<!doctype", b"<html")
    ):
        raise PriceSourceError(
            f"{what}: answered with a web page instead of prices.",
            fix="A login page or a proxy stands between; open the address in a browser to see.",
        )
    return Fetched(data, _day(response.headers.get("Last-Modified")))


def _day(header: str | None) -> date | None:
    from email.utils import parsedate_to_datetime

    try:
        return None if header is None else parsedate_to_datetime(header).date()
    except ValueError:
        return None


def _too_slow(what: str, timeout_s: float) -> PriceSourceError:
    return PriceSourceError(f"{what}: did not answer within {timeout_s:g} s.", fix="Try again later.")


def _fix(code: int) -> str:
    return "Check the key that you gave." if code in (401, 403) else "Try again later."
