"""Writes files completely or not at all: to a locked part file beside the target, then moved in one step."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

PART = re.compile(r"\.planner-[0-9a-f]{16}\.part")
"""Name of a file that is being written. No other program uses such names."""
ABANDONED_S = 86_400
"""Age in seconds from which a part counts as abandoned, on file systems without locks."""
MODE = 0o644
"""Mode of a new file. A replaced file keeps its mode."""


@contextmanager
def whole_file(path: Path, *, replace: bool = True, follow: bool = True) -> Iterator[IO[bytes]]:
    """Open a file that replaces `path` once it is complete. If `path` is a link, its target is replaced.

    If the writer ends early, the existing file stays unchanged. Parts of killed writers are removed. Without `follow`,
    a link itself is replaced, because the link's author must not choose the written file. Raises OSError if the file
    cannot be written, and FileExistsError without `replace` if the name is taken.
    """
    target = Path(os.path.realpath(path)) if follow else path
    clear_parts(target.parent)
    descriptor, part = _open_part(target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:  # closed last, because closing releases the lock
            yield file
            file.flush()
            os.fchmod(descriptor, _mode(target))
            os.fsync(descriptor)
            if replace:
                part.replace(target)
            else:
                os.link(part, target)
    finally:
        part.unlink(missing_ok=True)


def clear_parts(folder: Path) -> None:
    """Remove the parts in a folder whose writers are gone. Parts that cannot be removed stay."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208  names alone
            if PART.fullmatch(name):
                with contextlib.suppress(OSError):
                    _clear(folder / name)


def _open_part(folder: Path) -> tuple[int, Path]:
    while True:
        part = folder / f".planner-{secrets.token_hex(8)}.part"
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, part
        os.close(descriptor)  # another writer removed it as abandoned before it was locked


def _clear(part: Path) -> None:
    descriptor = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.unlink()
    except BlockingIOError:
        return  # its writer lives
    except OSError:
        if time.time() - os.fstat(descriptor).st_mtime > ABANDONED_S:
            part.unlink()
    finally:
        os.close(descriptor)


def _mode(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return MODE
