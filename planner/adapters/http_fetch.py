"""Fetches one document over HTTP: streamed, limited in size and time. Every failure is one plain sentence."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from planner import time_limits
from planner.errors import PriceSourceError

if TYPE_CHECKING:
    import httpx

TIMEOUT_S = time_limits.SILENCE_S
LIMIT_BYTES = 100_000_000
PATIENCE = time_limits.OPERATION_S / time_limits.SILENCE_S
"""Multiple of the time limit that a large table may take, because it shares the line with a dozen others."""
REFUSALS = {
    401: "the key is missing or wrong",
    403: "access is refused",
    404: "there is nothing at this address",
    429: "too many requests",
}


@dataclass(frozen=True)
class Fetched:
    """A document, and the day of its last change if the server reports it."""

    data: bytes
    last_modified: date | None


def fetch(
    url: str, *, what: str, headers: Mapping[str, str] | None = None, timeout_s: float = TIMEOUT_S,
    limit_bytes: int = LIMIT_BYTES, patience: float = 1.0, first_lines: int = 0,
    keep_line: Callable[[bytes], bool] | None = None,
) -> Fetched:  # fmt: skip
    """Fetch `url`. `what` names the source in errors.

    `timeout_s` limits each read and, times `patience`, the whole transfer. A response longer than `limit_bytes` is an
    error. With `keep_line`, only the first lines of a long table and those that it accepts are kept.
    """
    import ssl

    import httpx

    if not url.startswith(("https://", "http://")):
        raise PriceSourceError(f"{what}: {url} is not a web address.", fix="Write it with https:// in front.")
    end = time.monotonic() + timeout_s * patience
    kept = _Kept(first_lines, keep_line)
    try:
        with httpx.stream(
            "GET", url, headers={"User-Agent": "training-planner"} | dict(headers or {}), follow_redirects=True,
            timeout=timeout_s, verify=ssl.create_default_context(),
        ) as response:  # fmt: skip
            if not response.is_success:
                raise _refusal(what, response.status_code)
            return _read(response, kept, what=what, end=end, timeout_s=timeout_s * patience, limit_bytes=limit_bytes)
    except httpx.TimeoutException as error:
        raise _too_slow(what, timeout_s) from error
    except (httpx.LocalProtocolError, UnicodeEncodeError):  # their text contains the key
        raise PriceSourceError(f"{what}: the key holds a character that no header may hold.", fix=_fix(401)) from None
    except (httpx.HTTPError, httpx.InvalidURL, ImportError) as error:  # httpx lacks SOCKS support for such a proxy
        problem = f"{what}: cannot be reached: {str(error).rstrip('.') or type(error).__name__}."
        raise PriceSourceError(problem, fix="Check the network, or try again later.") from error


class _Kept:
    """The part that is kept of the bytes streaming past."""

    def __init__(self, first_lines: int, keep_line: Callable[[bytes], bool] | None) -> None:
        self.data, self.seen = bytearray(), 0
        self._first, self._keep, self._rest = first_lines, keep_line, b""

    def add(self, part: bytes) -> None:
        """Take some bytes in."""
        self.seen += len(part)
        if self._keep is None:
            self.data += part
            return
        *lines, self._rest = (self._rest + part).split(b"\n")
        self._take(lines)

    def end(self) -> bytes:
        """Return what was kept."""
        if self._rest:
            self._take([self._rest])
        return bytes(self.data)

    def _take(self, lines: Iterable[bytes]) -> None:
        assert self._keep is not None
        for line in lines:
            if self._first > 0 or self._keep(line):
                self._first -= 1
                self.data += line + b"\n"


def _read(
    response: httpx.Response, kept: _Kept, *, what: str, end: float, timeout_s: float, limit_bytes: int
) -> Fetched:
    import httpx

    try:
        for part in response.iter_bytes():
            kept.add(part)
            if kept.seen > limit_bytes:
                raise PriceSourceError(
                    f"{what}: the answer is longer than {limit_bytes / 1e6:g} MB and was cut off.",
                    fix="This is not a price list of the known kind; nothing of it was taken.",
                )
            if time.monotonic() > end:
                raise _too_slow(what, timeout_s)
    except httpx.RemoteProtocolError as error:
        announced = response.headers.get("Content-Length", "an unknown number of")
        problem = f"{what}: the answer ended after {response.num_bytes_downloaded} of {announced} bytes."
        raise PriceSourceError(problem, fix="Try again.") from error
    data = kept.end()
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


def _refusal(what: str, code: int) -> PriceSourceError:
    reason = REFUSALS.get(code, "the server failed")
    return PriceSourceError(f"{what}: answered {code}: {reason}.", fix=_fix(code))


def _too_slow(what: str, timeout_s: float) -> PriceSourceError:
    return PriceSourceError(f"{what}: did not answer within {timeout_s:g} s.", fix="Try again later.")


def _fix(code: int) -> str:
    return "Check the key that you gave." if code in (401, 403) else "Try again later."
