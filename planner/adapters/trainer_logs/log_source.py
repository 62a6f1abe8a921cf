"""File or folder that may hold a trainer's log: its text files by name, read within limits, and their hash."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from planner.adapters.documents import read_bytes
from planner.adapters.mapping_text import Json, parse_mapping
from planner.adapters.trainer_logs.archive import is_archive, unpacked
from planner.errors import InputError

Log = TypeVar("Log")
LONGEST_LINE = 2_000
"""Characters of a line that line-based formats look at."""
LOG_LIMIT_BYTES = 64_000_000
MOST_LINES = 3_000_000
"""Largest number of lines of a console's output: three days of a progress bar that is drawn ten times a second."""
MOST_FILES = 2_000
"""Largest number of files in a folder and its subfolders."""
DEEPEST = 4
"""Levels of folders below the named one (MLflow: experiment, run, metrics, train)."""
UNPACK = "Unpack it yourself and name the log in it."
EXPORT = "Export its rows with a step and its time as CSV or JSON lines, and name that."
BINARIES = {
    b"PK\x03\x04": ("a zip archive", UNPACK), b"\x1f\x8b": ("a gzip archive", UNPACK),
    b"BZh": ("a bzip2 archive", UNPACK), b"\xfd7zXZ": ("an xz archive", UNPACK),
    b"(\xb5/\xfd": ("a zstd archive", UNPACK), b"7z\xbc\xaf": ("a 7z archive", UNPACK),
    b"PAR1": ("a Parquet file without the ending .parquet", "Rename it."), b"\x89HDF": ("an HDF5 file", EXPORT),
    b"\x80\x02": ("a pickle", EXPORT), b"\x80\x04": ("a pickle", EXPORT),
    b"SQLite format 3": ("a database, as MLflow's mlflow.db",
                         "Export the history of its metrics (MlflowClient.get_metric_history) as CSV."),
    b":W&B": ("W&B's own record of a run",
              "Name output.log in files/ beside it, or export the history (run.scan_history) as JSON lines."),
}  # fmt: skip
"""First bytes of files that are not text, with their kind and the fix."""
EVENTS = "events.out.tfevents"
TAR_MAGIC = (257, b"ustar")
CONSOLES = r".{1,200}\.(?:log|txt|out|err)|nohup\.out|(?:stdout|stderr|log)(?:\.\w{1,20})?"
FIX = "Name a trainer's log, its output folder or a CSV; formats: docs/importing-runs.md"
_ESCAPES = re.compile(
    r"(?:\x1b|\^\[|\u241b)\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|\[(?:\d{1,3};){0,6}\d{1,3}m"
)
"""Colours and movements of the cursor. Pasted text may have lost the escape character, or shows it as ^[."""


@dataclass
class LogSource:
    """A path that the user named, and the files below it by their relative names. Files are read on first use."""

    path: Path
    folder: Path
    names: tuple[str, ...]
    lone: bool = False
    """True if the path is a single file. Others beside it are read only for facts."""
    unpacked: bool = False
    """True if the path is an archive, and the folder the one into which it was unpacked."""
    _texts: dict[str, str] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _plain: dict[str, str] = field(default_factory=dict)
    """Texts without escape sequences."""

    def text(self, name: str) -> str:
        """Return a file's text. InputError if it is too large, an archive, binary or not UTF-8."""
        if name not in self._texts:
            self._texts[name] = _decoded(self.data(name), self.where(name))
        return self._texts[name]

    def data(self, name: str) -> bytes:
        """Return a file's bytes. InputError if it is too large."""
        data = read_bytes(self.file(name), limit_bytes=LOG_LIMIT_BYTES, fix=FIX)
        self._digests[name] = hashlib.sha256(data).hexdigest()
        return data

    def json(self, name: str) -> Json:
        """Return a file's mapping, as JSON or YAML."""
        return parse_mapping(self.text(name), where=self.where(name), fix=FIX, foreign=True)

    def lines(self, name: str) -> Iterator[str]:
        """Return the lines of a console's output without colours.

        Text that a progress bar overwrote counts as lines.
        """
        text = self.text(name)
        if text.count("\n") + text.count("\r") > MOST_LINES:
            raise InputError(f"{self.where(name)}: has over {MOST_LINES:,} lines.", fix="Keep the steps of some hours.")
        if name not in self._plain:
            self._plain[name] = _ESCAPES.sub("", text).replace("^M", "\n").replace("\r", "\n")  # ^M as viewers write it
        return (line for line in self._plain[name].split("\n") if line)

    def file(self, name: str) -> Path:
        """Return a file's path."""
        return self.folder / name

    def where(self, name: str) -> str:
        """Return the name of a file in messages."""
        return f"{self.path}: {name}" if self.unpacked else str(self.file(name))

    def named(self, *patterns: str) -> list[str]:
        """Return the files whose last part matches one of the patterns, those nearest to the top first."""
        found = [name for name in self.names if any(re.fullmatch(pattern, base(name)) for pattern in patterns)]
        return sorted(found, key=lambda name: (name.count("/"), name))

    def consoles(self) -> list[str]:
        """Return the files that may be a console's output. A lone file may have any name."""
        ends = (".json", ".csv", ".tsv", ".jsonl", ".ndjson", ".yaml", ".yml", ".parquet")
        return [name for name in self.names if not name.endswith(ends)] if self.lone else self.named(CONSOLES)

    def each_console(self, read: Callable[[LogSource, str], Log | None]) -> list[Log]:
        """Return what a format reads from each console's output that is in this format."""
        return [log for name in self.consoles() if (log := read(self, name)) is not None]

    def in_folder_of(self, name: str, *wanted: str) -> list[str]:
        """Return which of the wanted files exist in the folder of a file."""
        folder = name.rpartition("/")[0]
        names = [f"{folder}/{wanted_name}" if folder else wanted_name for wanted_name in wanted]
        return [path_name for path_name in names if self.file(path_name).is_file()]

    def sha256(self, names: Collection[str]) -> tuple[str, ...]:
        """Return the hashes of files, sorted."""
        for name in names:
            if name not in self._digests:
                self.data(name)
        return tuple(sorted({self._digests[name] for name in names}))


def base(name: str) -> str:
    """Return a file's own name."""
    return name.rpartition("/")[2]


@contextmanager
def opened(path: Path) -> Iterator[LogSource]:
    """Yield the source of a path. An archive is unpacked meanwhile."""
    if not path.is_file() or not is_archive(path):
        yield open_source(path)
        return
    with unpacked(path) as folder:
        names = tuple(_listed(folder))
        yield LogSource(path, folder, names, lone=len(names) == 1, unpacked=True)


def open_source(path: Path) -> LogSource:
    """List the files of a path without reading them. A lone file may use files of fixed names beside it."""
    try:
        if path.is_dir():
            return LogSource(path, path, tuple(_listed(path)))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {os.strerror(error.errno or 0)}.", fix=FIX) from error
    return LogSource(path, path.parent, (path.name,), lone=True)


def _listed(folder: Path) -> list[str]:
    names: list[str] = []
    for root, folders, files in os.walk(folder, followlinks=False):
        below = Path(root).relative_to(folder)
        depth = len(below.parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < DEEPEST else []
        names += [str(below / name) for name in sorted(files) if not name.startswith(".")]
        if len(names) > MOST_FILES:
            raise InputError(
                f"{folder}: holds over {MOST_FILES:,} files.", fix="Name the log itself, or the folder of one run."
            )
    return names


def _decoded(data: bytes, path: str) -> str:
    found = next((description for magic, description in BINARIES.items() if data.startswith(magic)), None)
    offset, magic = TAR_MAGIC
    if data[offset : offset + len(magic)] == magic:
        found = ("a tar archive", UNPACK)
    if EVENTS in path:
        found = (
            "TensorBoard's record of a run",
            "Download its scalars as CSV (Wall time, Step, Value), and name that.",
        )
    if found is not None:
        raise InputError(f"{path}: is {found[0]}, which is not read.", fix=found[1])
    if b"\x00" in data[:4_000_000]:
        raise InputError(f"{path}: is binary or UTF-16, not UTF-8 text.", fix="Save it as UTF-8, or name the log.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start >= len(data) - 3 and error.reason == "unexpected end of data":  # cut within a character
            return data[: error.start].decode("utf-8-sig")
        raise InputError(f"{path}: is not UTF-8 text (byte {error.start}).", fix="Save it as UTF-8.") from error
