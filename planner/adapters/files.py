"""Files written complete or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from planner.errors import StoreError


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step: written beside its place, then renamed over it."""
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False) as file:
            temporary = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        reason = os.strerror(error.errno or 0)
        raise StoreError(
            f"{path}: cannot be written: {reason}.", fix="Name a folder that exists and is writable."
        ) from error
