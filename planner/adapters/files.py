"""Files written complete or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from planner.errors import StoreError
from planner.whole_file import whole_file

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step: written beside its place, then renamed over it. A link stays, a device too."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file in the same way."""
    try:
        if _is_no_file(path):
            with path.open("wb") as file:
                file.write(content)
        else:
            with whole_file(path) as file:
                file.write(content)
    except OSError as error:
        full = error.errno in NO_SPACE
        raise StoreError(
            f"{path}: cannot be written: {os.strerror(error.errno or 0)}.",
            fix="Free some space, or name another place." if full else "Name a folder that exists and is writable.",
        ) from error


def _is_no_file(path: Path) -> bool:
    """Return whether a device or a pipe has this name, which is written to and never replaced."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
