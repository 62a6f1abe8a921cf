"""Makes printed text safe: it cannot control the terminal, and a full disk is one error."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from planner.text.visible_text import visible_text


class Drawn(str):
    """Text with our own control sequences, in which all others are already visible. For `write`, not for `print`."""

    __slots__ = ()


class _VisibleStream(io.TextIOBase):
    """A stream that shows control characters as text."""

    def __init__(self, inner: TextIO, name: str, *, needed: bool) -> None:
        self._inner = inner
        self._name = name
        self._needed = needed
        self._failed: OSError | None = None

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Encoding of the stream behind it."""
        return self._inner.encoding or "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        """Error handling of the stream behind it."""
        return self._inner.errors or "strict"

    def isatty(self) -> bool:
        """Return whether a terminal is connected."""
        return self._inner.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the stream behind it."""
        return self._inner.fileno()

    def writable(self) -> bool:
        """Return True: it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Write text. Only our own drawings keep their control sequences."""
        shown = text if isinstance(text, Drawn) else visible_text(text)
        if shown:
            self._do(lambda: self._inner.write(shown))
        return len(text)

    def flush(self) -> None:
        """Flush the stream. Repeat an earlier failure, which a library may have swallowed."""
        self._do(self._inner.flush)
        if self._failed is not None:
            raise self._failed

    def _do(self, action: Callable[[], object]) -> None:
        try:
            action()
        except BrokenPipeError:
            silence(self._inner)
            if self._needed:
                raise
        except OSError as error:
            silence(self._inner)
            if self._needed:
                self._failed = OSError(error.errno, error.strerror, self._name)
                raise self._failed from error


def silence(stream: TextIO) -> None:
    """Discard what a stream still holds, because writing it would fail again at the exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def visible_output() -> Iterator[None]:
    """Route stdout and stderr through this stream. An error of stderr cannot be reported, and stops nothing."""
    kept = sys.stdout, sys.stderr
    with contextlib.ExitStack() as stack:
        out, err = (
            stack.enter_context(Path(os.devnull).open("w", encoding="utf-8")) if stream is None else stream
            for stream in kept  # a process may be started with either of them closed
        )
        doors = _VisibleStream(out, "stdout", needed=True), _VisibleStream(err, "stderr", needed=False)
        sys.stdout, sys.stderr = doors
        try:
            yield
        finally:
            sys.stdout, sys.stderr = kept
            for door in doors:
                with contextlib.suppress(OSError, ValueError):  # after an error; otherwise it was flushed before
                    door.flush()
