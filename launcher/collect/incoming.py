"""What a node sends: taken in by name and kind, so that it can neither lead elsewhere nor replace our own files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from launcher.ledger.launch_folder import LOCK_NAME
from planner.errors import NodeError
from planner.redact import clean

LARGEST_BYTES = 10**9
"""Of one file; a result has kilobytes, a log megabytes."""
LARGEST_TEXT_BYTES = 64 * 2**20
TEXTS = (".log", ".json", ".txt")
RSYNC = ("--recursive", "--times", f"--max-size={LARGEST_BYTES}")
"""Regular files and folders only: rsync leaves links and devices out unless it is asked for them."""
_PART = r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}"
_NAME = re.compile(rf"(?:{_PART}/){{0,3}}{_PART}")
_OTHER_NODE = re.compile(r"node-[0-9]+(?:/|$)")
_STAGED = ".incoming"


def is_allowed(name: str, *, own: Collection[str] = ()) -> bool:
    """Return whether a node may leave a file of this name (with `/`) in its folder: none of ours, of no other node's.

    Names that begin with a dot are ours: locks, parts of files.
    """
    return _NAME.fullmatch(name) is not None and _OTHER_NODE.match(name) is None and name not in (LOCK_NAME, *own)


@contextmanager
def incoming(into: Path, *, own: Collection[str] = ()) -> Iterator[Path]:
    """Yield an empty folder for what a node sends; then, also after a failure, its files move into `into`.

    Links, devices and names that are not allowed are left out. A file that stands in its place is whole. NodeError
    where this disk lets nothing be written.
    """
    staged = into / _STAGED
    try:
        shutil.rmtree(staged, ignore_errors=True)  # of a client that was killed
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
    for path in sorted(staged.rglob("*")):
        name = path.relative_to(staged).as_posix()
        if path.is_symlink() or not path.is_file() or not is_allowed(name, own=own):
            continue
        if path.suffix in TEXTS:
            _clean(path)
        place = into / name
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)


def _clean(path: Path) -> None:
    """Hide the secrets in a file that a person will read or send on; a text without any stays as it is, to the byte."""
    if path.stat().st_size > LARGEST_TEXT_BYTES:
        return
    text = path.read_bytes().decode("utf-8", errors="surrogateescape")
    cleaned = clean(text)
    if cleaned != text:
        path.write_bytes(cleaned.encode("utf-8", errors="surrogateescape"))
