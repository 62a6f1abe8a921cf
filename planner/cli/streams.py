"""Output streams of commands: data to stdout, messages to stderr; JSON documents of answers and of errors."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from planner.errors import PlannerError

if TYPE_CHECKING:
    from planner.model.base import Frozen


NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class _Lasting(io.TextIOBase):
    """A stream that survives its reader: after the first failure its output is discarded."""

    def __init__(self, inner: TextIO) -> None:
        self._inner: TextIO | None = inner
        self.lost: OSError | None = None
        self._encoding = inner.encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Encoding of the stream behind it."""
        return self._encoding

    def isatty(self) -> bool:
        """Return whether a terminal is still connected."""
        return self._inner is not None and self._inner.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the stream behind it."""
        if self._inner is None:
            raise io.UnsupportedOperation("its reader is gone")
        return self._inner.fileno()

    def write(self, text: str) -> int:
        """Write, unless the reader is gone."""
        self._do(lambda inner: inner.write(text))
        return len(text)

    def flush(self) -> None:
        """Flush, unless the reader is gone."""
        self._do(lambda inner: inner.flush())

    def _do(self, action: Callable[[TextIO], object]) -> None:
        if self._inner is None:
            return
        try:
            action(self._inner)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in NO_SPACE:
                self.lost = error
            with contextlib.suppress(OSError, ValueError):  # data left in its buffer must not fail at the exit
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._inner.fileno())
            self._inner = None


@contextlib.contextmanager
def lasting_output() -> Iterator[None]:
    """Let a command continue, and end with its own exit code, when its terminal hangs up or its output is closed."""
    kept = sys.stdout, sys.stderr
    before = None
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGHUP"):
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    sys.stdout, sys.stderr = out, _ = _Lasting(kept[0]), _Lasting(kept[1])
    try:
        yield
        out.flush()
        if out.lost is not None:
            raise out.lost
    finally:
        out.flush()
        sys.stdout, sys.stderr = kept
        if before is not None:
            signal.signal(signal.SIGHUP, before)


def say(text: str) -> None:
    """Print a message to the user, on stderr."""
    from planner.redact import clean  # not needed for the list of commands

    print(clean(text), file=sys.stderr)


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether the caller asked for JSON, even if the arguments do not parse."""
    pairs = zip(arguments, [*arguments, ""][1:], strict=True)
    return any(pair in ("--json", "--format=json") or (pair == "--format" and two == "json") for pair, two in pairs)


def print_document(document: Frozen) -> None:
    """Print a model as JSON."""
    print(_as_json(document.model_dump(mode="json")))


def error_document(error: PlannerError) -> str:
    """Return an error as JSON."""
    return _as_json(error.document())


def _as_json(data: object) -> str:
    """Return JSON that stdout can encode: escapes stand for Korean if its encoding has none."""
    return json.dumps(data, indent=1, ensure_ascii=(sys.stdout.encoding or "").lower().replace("-", "") != "utf8")
