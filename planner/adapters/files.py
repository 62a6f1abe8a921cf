"""Files written complete or not at all, and never over a file that the same command reads."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from planner.errors import InputError, StoreError
from planner.whole_file import whole_file

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_inputs: set[Path] | None = None
"""Files that the command has read; None where no command runs, as in a program that uses the API."""


@contextmanager
def inputs_noted() -> Iterator[None]:
    """Note which files are read in this block, so that none of them is written over in it."""
    global _inputs  # noqa: PLW0603  of the process: catalogs are read in several threads
    before, _inputs = _inputs, set()
    try:
        yield
    finally:
        _inputs = before


def note_input(path: Path) -> None:
    """Note that a file is read; its content may come from a person."""
    if _inputs is not None:
        _inputs.add(path.absolute())


def refuse_input(path: Path) -> None:
    """Refuse to write over a file that was read, whatever its name here: its path, a link to it or a hard link."""
    for one in _inputs or ():
        with suppress(OSError):
            if path.samefile(one):
                raise InputError(
                    f"{path}: this command reads that file, and would write over it; nothing was written.",
                    fix="Name another file to write.",
                )


def write_text(path: Path, text: str, *, of_store: bool = False) -> None:
    """Replace a file in one step: written beside its place, then renamed over it. A link stays, a device too.

    InputError where the command reads that file; a store, which rewrites its own files, says `of_store`.
    """
    write_bytes(path, text.encode(), of_store=of_store)


def write_bytes(path: Path, content: bytes, *, of_store: bool = False) -> None:
    """Replace a file in the same way."""
    if not of_store:
        refuse_input(path)
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
