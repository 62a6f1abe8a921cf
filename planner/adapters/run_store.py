"""Run store: one immutable JSON file per run or probe in the workspace. Writers never overwrite each other."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from planner.adapters.documents import RECORD_LIMIT_BYTES, parse_model, read_text
from planner.adapters.mapping_text import parse_mapping
from planner.errors import StoreError
from planner.model.evidence.probe import ProbeRecord
from planner.model.evidence.run import RunRecord
from planner.whole_file import whole_file

Record = TypeVar("Record", RunRecord, ProbeRecord)


class RunStore(Protocol):
    """Place where runs are kept: a folder, or a prefix on S3."""

    @property
    def where(self) -> str:
        """The store's address, as shown to users."""

    def read_all(self) -> list[RunRecord]:
        """Return every record, by name."""

    def check(self, record: RunRecord) -> None:
        """Refuse a record whose name another record has."""

    def add(self, record: RunRecord) -> Path | str:
        """Write a record once and for all. Return its address."""


class RecordFolder(Generic[Record]):
    """Records of one kind as `<folder>/<id>.json`. Safe to keep in git, and with several writers."""

    def __init__(self, folder: Path, model: type[Record], what: str) -> None:
        self.folder, self._what = folder, what
        self._model: type[Record] = model

    @property
    def where(self) -> str:
        """The folder."""
        return str(self.folder)

    def read_all(self) -> list[Record]:
        """Return every record, by file name. A broken file is an error that names it."""
        try:
            paths = sorted(path for path in self.folder.iterdir() if path.suffix == ".json")
        except FileNotFoundError:
            return []
        except NotADirectoryError as error:
            raise StoreError(
                f"{self.folder}: is not a folder.",
                fix="Move the file away, or name another workspace with PLANNER_HOME.",
            ) from error
        except OSError as error:
            raise StoreError(
                f"{self.folder}: cannot be read: {os.strerror(error.errno or 0)}.",
                fix="Make it a readable folder or name another workspace with PLANNER_HOME.",
            ) from error
        records = [self._read(path) for path in paths]
        refuse_twins(zip(records, map(str, paths), strict=True), self._what)
        return records

    def check(self, record: Record) -> None:
        """Refuse a record whose file name another record has. The same record twice is not an error."""
        path = self._path(record)
        if path.exists() and self._read(path) != record:
            raise taken(str(path), record, self._what)

    def add(self, record: Record) -> Path:
        """Write a record once and for all: complete or not at all.

        The file is written beside its place, then linked to its name. Linking fails if the name is taken, so of two
        writers with one id exactly one wins and the other gets an error. Adding the same record twice is not an error.
        """
        path = self._path(record)
        text = json.dumps(record.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
        if self.folder.exists() and not self.folder.is_dir():
            raise StoreError(
                f"{self.folder}: is a file, not a folder.", fix="Name another workspace with PLANNER_HOME."
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with whole_file(path, replace=False) as file:
                file.write(text.encode())
        except FileExistsError:
            if path.exists() and self._read(path) == record:
                return path
            raise taken(str(path), record, self._what) from None
        except OSError as error:
            raise StoreError(
                f"{self.folder}: the {self._what} could not be written: {os.strerror(error.errno or 0)}.",
                fix="Make the folder writable or name another workspace with PLANNER_HOME.",
            ) from error
        return path

    def _path(self, record: Record) -> Path:
        return self.folder / file_name(record)

    def _read(self, path: Path) -> Record:
        where = str(path)
        fix = "Move the file out of the store, or restore it."
        text = read_text(path, limit_bytes=RECORD_LIMIT_BYTES, fix=fix)
        record: Record = parse_model(
            self._model, parse_mapping(text, where=where, fix=fix), where=where, text=text, fix=fix
        )
        return record


class FolderStore(RecordFolder[RunRecord]):
    """Runs in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, RunRecord, "run")


PROBES_FOLDER = "probes"


def probe_store(workspace: Path) -> RecordFolder[ProbeRecord]:
    """Return the folder of the workspace's probes, beside that of its runs."""
    return RecordFolder(workspace / PROBES_FOLDER, ProbeRecord, "probe")


def file_name(record: RunRecord | ProbeRecord) -> str:
    """Return the name of a record in every store."""
    return f"{record.id.replace('/', '_')}.json"


def refuse_twins(records: Iterable[tuple[RunRecord | ProbeRecord, str]], what: str = "run") -> None:
    """Refuse a store in which two places hold the same id."""
    seen: dict[str, str] = {}
    for record, where in records:
        if record.id in seen:
            raise StoreError(
                f"{where} and {seen[record.id]} hold two {what}s with the id '{record.id}'.",
                fix="Move one of them away or give it another id.",
            )
        seen[record.id] = where


def taken(where: str, record: RunRecord | ProbeRecord, what: str = "run") -> StoreError:
    """Return the error that another record has the name."""
    return StoreError(
        f"{where}: another {what} already has the id '{record.id}'; nothing was changed.",
        fix="Give the new record another id.",
    )
