"""Files written whole or not at all: beside their place, under a lock, then moved to it in one step."""

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
"""The name of a file that is being written; nobody else gives such a name."""
ABANDONED_S = 86_400
"""Age of a part whose writer is taken to be gone, where the file system has no locks."""
MODE = 0o644
"""Of a new file; one that is replaced keeps its own."""


@contextmanager
def whole_file(path: Path, *, replace: bool = True, follow: bool = True) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of `path` once it is complete; a link stays, and what it points to is replaced.

    Whatever ends the writer before, the file that stands there stays as it is. Raises OSError where it cannot be
    written, without `replace` FileExistsError where the name is taken. What killed writers left beside is removed.
    Without `follow` a link is replaced itself: whoever made it may not say what is written to.
    """
    target = Path(os.path.realpath(path)) if follow else path
    clear_parts(target.parent)
    descriptor, part = _open_part(target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:  # closed last: until then the lock says that it is being written
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
    """Remove the parts in a folder that no living writer holds; what cannot be removed stays."""
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
        os.close(descriptor)  # another writer took it for abandoned before it was locked


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
