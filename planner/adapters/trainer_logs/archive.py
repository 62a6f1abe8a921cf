"""Unpacks zip and tar archives and gzip files of logs, within limits, into a folder that is removed after reading.

Refuses paths out of the archive, passwords, and archives beyond the limits: sizes that headers state count beforehand,
and the bytes that really come are counted too. Links are skipped.
"""

from __future__ import annotations

import gzip
import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Literal, TypeVar, cast

from planner.adapters.files import also_reading_below, check_readable, note_input
from planner.errors import InputError

Member = TypeVar("Member")
LARGEST_ARCHIVE_BYTES = 500_000_000
MOST_UNPACKED_BYTES = 500_000_000
MOST_PASSED_BYTES = 2_000_000_000
"""Limit of a compressed tar, which must be read to its end even to skip a file."""
MOST_MEMBERS = 2_000
LARGEST_MEMBER_BYTES = 64_000_000
"""Limit of one file.

Larger ones, such as weights, are skipped; a log may not be larger (`log_source.LOG_LIMIT_BYTES`).
"""
PIECE_BYTES = 1_000_000
FIX = "Unpack it yourself and name the log in it."
TarMode = Literal["r:", "r:gz", "r:bz2", "r:xz"]
MODES: dict[bytes, TarMode] = {b"\x1f\x8b": "r:gz", b"BZh": "r:bz2", b"\xfd7zXZ": "r:xz"}
NO_LOGS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".distcp", ".npy", ".arrow", ".png")
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError,
          NotImplementedError, ValueError)  # fmt: skip
"""Errors that archive readers raise if one is truncated, damaged, encrypted or of an unknown method."""


def is_archive(path: Path) -> bool:
    """Return whether a file begins as a zip, a tar or a compressed file of a supported kind."""
    check_readable(path)
    try:
        with path.open("rb") as file:
            head = file.read(264)
    except OSError:
        return False
    return head.startswith((b"PK\x03\x04", *MODES)) or head[257:262] == b"ustar"


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Yield a folder with an archive's files. InputError if it is hostile, damaged or too large."""
    note_input(path)
    if path.stat().st_size > LARGEST_ARCHIVE_BYTES:
        raise InputError(f"{path}: is an archive of over {LARGEST_ARCHIVE_BYTES / 1e6:.0f} MB.", fix=FIX)
    with tempfile.TemporaryDirectory(prefix="planner-log-") as made:
        folder = Path(made)
        try:
            _unpack(path, folder)
        except BROKEN as error:
            raise InputError(f"{path}: the archive cannot be unpacked ({type(error).__name__}).", fix=FIX) from error
        if not any(folder.rglob("*")):
            limit = LARGEST_MEMBER_BYTES / 1e6
            raise InputError(f"{path}: holds no file of up to {limit:.0f} MB that may be a log.", fix=FIX)
        with also_reading_below(folder):
            yield folder


def _unpack(path: Path, folder: Path) -> None:
    room = MOST_UNPACKED_BYTES
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as zipped:
            for info in _few(zipped.infolist(), path):
                if not info.is_dir() and (place := _place(info.filename, folder, path)) and _fits(info.file_size):
                    with zipped.open(info) as member:
                        room -= _write(member, place, room, path)
        return
    try:
        with tarfile.open(path, _mode(path)) as tar:
            passed = 0
            for entry in _few(tar, path):
                place = _place(entry.name, folder, path)
                passed += entry.size
                if passed > MOST_PASSED_BYTES:
                    raise InputError(f"{path}: unpacks to more than {MOST_PASSED_BYTES / 1e6:,.0f} MB.", fix=FIX)
                file = tar.extractfile(entry) if entry.isfile() and place is not None and _fits(entry.size) else None
                if file is not None and place is not None:
                    with file:
                        room -= _write(file, place, room, path)
        return
    except tarfile.ReadError:
        if not path.read_bytes()[:2] == b"\x1f\x8b":
            raise
    name = path.name.removesuffix(".gz")
    with gzip.open(path) as single:
        _write(cast(IO[bytes], single), folder / (name if name != path.name else f"{name}.log"), room, path)


def _mode(path: Path) -> TarMode:
    """Return the mode for opening a tar. A compressed file may by chance have the check sum of a plain one."""
    with path.open("rb") as file:
        head = file.read(6)
    return next((mode for magic, mode in MODES.items() if head.startswith(magic)), "r:")


def _few(members: Iterable[Member], path: Path) -> Iterator[Member]:
    for number, member in enumerate(members):
        if number >= MOST_MEMBERS:
            raise InputError(f"{path}: holds over {MOST_MEMBERS:,} files.", fix=FIX)
        yield member


def _fits(size: int) -> bool:
    return size <= LARGEST_MEMBER_BYTES


def _place(name: str, folder: Path, path: Path) -> Path | None:
    """Return where a member goes; None for a non-log or the folder `.`. InputError for a path out of the archive."""
    inside = PurePosixPath(name.replace("\\", "/"))
    if inside.is_absolute() or ".." in inside.parts or any(":" in part for part in inside.parts[:1]) or "\x00" in name:
        raise InputError(f"{path}: holds a path that leads out of it, '{name[:80]}'.", fix=FIX)
    return None if not inside.parts or inside.suffix.casefold() in NO_LOGS else folder.joinpath(*inside.parts)


def _write(member: IO[bytes], place: Path, room: int, path: Path) -> int:
    """Write a member in pieces. InputError if it exceeds its limit or the remaining room."""
    place.parent.mkdir(parents=True, exist_ok=True)
    limit, written = min(LARGEST_MEMBER_BYTES, room), 0
    with place.open("xb") as file:
        while piece := member.read(PIECE_BYTES):
            written += len(piece)
            if written > limit:
                raise InputError(
                    f"{path}: unpacks to more than {limit / 1e6:.0f} MB; such archives are not read.", fix=FIX
                )
            file.write(piece)
    return written
