"""Accepts files from a node by name and kind, so that they cannot lead elsewhere or replace our own files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from planner.errors import NodeError
from planner.launcher.ledger.launch_folder import LOCK_NAME
from planner.redact import clean
from planner.text.visible_text import visible_text
from planner.whole_file import whole_file

LARGEST_BYTES = 10**9
"""Limit of one file. A result has kilobytes, a log megabytes."""
LARGEST_TEXT_BYTES = 64 * 2**20
TEXTS = (".log", ".json", ".txt")
RSYNC = ("--recursive", "--times", f"--max-size={LARGEST_BYTES}")
"""Options for regular files and folders only. rsync leaves out links and devices unless it is asked for them."""
_PART = r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}"
_NAME = re.compile(rf"(?:{_PART}/){{0,3}}{_PART}")
_OF_ANOTHER_KIND = re.compile(r"start-[0-9]+|(?:.*/)?job\.log/.*")
"""Names of the wrong kind: a file in place of our folder, or a folder in place of our log."""
LEFT_OUT = "left-out.txt"
"""File that lists the names a node sent in place of something of another kind."""
MOST_NAMES = 1000
_OTHER_NODE = re.compile(r"node-[0-9]+(?:/|$)")
_STAGED = ".incoming"


def is_allowed(name: str, *, own: Collection[str] = ()) -> bool:
    """Return whether a node may leave a file of this name (with `/`) in its folder.

    It may not replace our files or another node's. Names that begin with a dot are ours: locks and partial files.
    """
    return (
        _NAME.fullmatch(name) is not None
        and _OTHER_NODE.match(name) is None
        and _OF_ANOTHER_KIND.fullmatch(name) is None
        and name not in (LOCK_NAME, LEFT_OUT, *own)
    )


@contextmanager
def incoming(into: Path, *, own: Collection[str] = ()) -> Iterator[Path]:
    """Yield an empty folder for what a node sends. Afterwards, also after a failure, move its files into `into`.

    Links, devices and forbidden names are left out. A file in place of a folder, or a folder in place of a file, is
    left out too and listed in `left-out.txt`. Every file at its final place is complete. Raises NodeError if this disk
    cannot be written.
    """
    staged = into / _STAGED
    try:
        shutil.rmtree(staged, ignore_errors=True)  # left by a client that was killed
        staged.mkdir(parents=True)
        try:
            yield staged
        finally:
            _take_in(staged, into, own=own)
    except OSError as error:
        raise NodeError(
            f"{into}: cannot be written: {error.strerror or error}.", fix="Make room on the disk."
        ) from error
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _take_in(staged: Path, into: Path, *, own: Collection[str]) -> None:
    left_out = set(left_out_of(into))
    for path in sorted(staged.rglob("*")):
        name = path.relative_to(staged).as_posix()
        if path.is_symlink() or not path.is_file() or not is_allowed(name, own=own):
            left_out |= {name} if path.is_file() and _OF_ANOTHER_KIND.fullmatch(name) else set()
            continue
        if path.suffix in TEXTS:
            _clean(path)
        place = into / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            path.replace(place)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            left_out.add(name)
    if left_out:
        names = [visible_text(name) for name in sorted(left_out)[:MOST_NAMES]]
        with whole_file(into / LEFT_OUT, follow=False) as file:
            file.write("".join(f"{name}\n" for name in names).encode())


def left_out_of(folder: Path) -> list[str]:
    """Return the names that a node sent and that were rejected for their kind."""
    try:
        return (folder / LEFT_OUT).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


def _clean(path: Path) -> None:
    """Remove secrets from a file that people will read or send on.

    A text without secrets stays unchanged, byte by byte.
    """
    if path.stat().st_size > LARGEST_TEXT_BYTES:
        return
    text = path.read_bytes().decode("utf-8", errors="surrogateescape")
    cleaned = clean(text)
    if cleaned != text:
        path.write_bytes(cleaned.encode("utf-8", errors="surrogateescape"))
