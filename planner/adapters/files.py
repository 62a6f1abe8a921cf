"""Files read within bounds; written complete or not at all, and never over a file that the same command reads."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from planner.errors import InputError, StoreError
from planner.whole_file import whole_file

OUTSIDE_FIX = "Name a file inside the folder that was given at start, by its path in it."
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_inputs: set[Path] | None = None
"""Files that the command has read; None where no command runs, as in a program that uses the API."""
_roots: tuple[Path, ...] | None = None
"""Folders from which files may be read; None: from anywhere, as a person at a terminal may."""


@contextmanager
def reading_only_below(folders: Sequence[Path]) -> Iterator[None]:
    """Refuse in this block to read a file outside the folders, wherever a link or a path in a file leads."""
    global _roots  # noqa: PLW0603  of the process: a server that answers others reads in several threads
    before, _roots = _roots, tuple(folder.resolve() for folder in folders)
    try:
        yield
    finally:
        _roots = before


@contextmanager
def also_reading_below(folder: Path) -> Iterator[None]:
    """Allow one folder more in this block: a temporary one, with what an archive that may be read holds."""
    if _roots is None:
        yield
        return
    with reading_only_below((*_roots, folder)):
        yield


def check_readable(path: Path) -> None:
    """Refuse a path that leads out of the folders that may be read, before anything is asked of the file system."""
    if _roots is None:
        return
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name too long, a zero byte
        raise InputError("a path that names no file.", fix=OUTSIDE_FIX) from None
    if not any(real.is_relative_to(root) for root in _roots):
        raise InputError(f"{path}: lies outside the folder that may be read.", fix=OUTSIDE_FIX)


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
    """Note that a file is read, whose content may come from a person; InputError where it may not be."""
    check_readable(path)
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
