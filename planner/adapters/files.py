"""Files written complete or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path

from planner.errors import StoreError


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step: written beside its place, then renamed over it. A link stays, a device too."""
    try:
        if _is_no_file(path):
            with path.open("w", encoding="utf-8") as file:
                file.write(text)
        else:
            _replace(Path(os.path.realpath(path)), text)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise StoreError(
            f"{path}: cannot be written: {os.strerror(error.errno or 0)}.",
            fix="Free some space, or name another place." if full else "Name a folder that exists and is writable.",
        ) from error


def _replace(path: Path, text: str) -> None:
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False) as file:
            temporary = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise


def _is_no_file(path: Path) -> bool:
    """Return whether a device or a pipe has this name, which is written to and never replaced."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
