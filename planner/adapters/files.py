"""Reads files within bounds. Writes them completely or not at all, and never over an input of the same command."""

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
"""Files that the command has read; None if no command runs, as in a program that uses the API."""
_roots: tuple[Path, ...] | None = None
"""Folders from which files may be read; None means anywhere, as for a user at a terminal."""


@contextmanager
def reading_only_below(folders: Sequence[Path]) -> Iterator[None]:
    """Refuse in this block to read a file outside the folders, even through a link or a path in a file."""
    global _roots  # noqa: PLW0603  global to the process: a server reads in several threads
    before, _roots = _roots, tuple(folder.resolve() for folder in folders)
    try:
        yield
    finally:
        _roots = before


@contextmanager
def also_reading_below(folder: Path) -> Iterator[None]:
    """Allow one more folder in this block: a temporary one with the contents of an allowed archive."""
    if _roots is None:
        yield
        return
    with reading_only_below((*_roots, folder)):
        yield


def check_readable(path: Path) -> None:
    """Refuse a path outside the folders that may be read, before the file system is asked about it."""
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
    """Note which files are read in this block, so that it overwrites none of them."""
    global _inputs  # noqa: PLW0603  global to the process: catalogs are read in several threads
    before, _inputs = _inputs, set()
    try:
        yield
    finally:
        _inputs = before


def note_input(path: Path) -> None:
    """Note that a file is read, whose content may come from a user. InputError if it may not be read."""
    check_readable(path)
    if _inputs is not None:
        _inputs.add(path.absolute())


def refuse_input(path: Path) -> None:
    """Refuse to overwrite a file that was read, under any name: its path, a link to it or a hard link."""
    for read_path in _inputs or ():
        with suppress(OSError):
            if path.samefile(read_path):
                raise InputError(
                    f"{path}: this command reads that file, and would write over it; nothing was written.",
                    fix="Name another file to write.",
                )


def write_text(path: Path, text: str, *, of_store: bool = False) -> None:
    """Replace a file in one step: written beside its place, then renamed over it. Links and devices stay.

    InputError if the command has read that file. A store, which rewrites its own files, passes `of_store`.
    """
    write_bytes(path, text.encode(), of_store=of_store)


def write_bytes(path: Path, content: bytes, *, of_store: bool = False) -> None:
    """Replace a file with bytes, as `write_text` does with text."""
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
    """Return whether a device or a pipe has this name. It is written to and never replaced."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
