"""The workspace's settings, `settings.yaml`: where its runs are kept, in a folder or on S3."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator

from planner.adapters.documents import RECORD_LIMIT_BYTES, parse_model, read_model
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.run_store import FolderStore, RunStore, file_name, refuse_twins, taken
from planner.adapters.workspace import exists_in_workspace
from planner.aws_session import aws_session
from planner.errors import InputError, MissingExtraError, NodeError, StoreError
from planner.model.aws_error import explain
from planner.model.base import Frozen, Text
from planner.model.evidence.run import RunRecord
from planner.time_limits import all_within, within

SCHEME = "s3://"
READERS = 16
"""Objects fetched at once: a few hundred runs then take about a second."""
TRIES = 5
"""Attempts at a write that collides with another write of the same name (409). S3 asks to repeat it."""
_BUCKET = re.compile(r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")
_FIX = "Move the object out of the store, or restore it."

Answer = TypeVar("Answer")


class S3Store:
    """Runs as `s3://bucket/prefix/<id>.json`; safe with any number of writers.

    A write carries `If-None-Match: *`, so S3 refuses it if the name is taken. Of two writers with one id exactly one
    wins and the other gets an error. boto3 finds credentials, region and endpoint as usual. Source: Amazon S3 user
    guide, conditional writes.
    """

    def __init__(self, address: str) -> None:
        bucket, _, prefix = address.removeprefix(SCHEME).partition("/")
        if not address.startswith(SCHEME) or not _BUCKET.match(bucket):
            raise InputError(f"'{address}' is not a place on S3.", fix="Write s3://bucket or s3://bucket/prefix.")
        self.bucket = bucket
        self.prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""

    @property
    def where(self) -> str:
        """The store's address."""
        return f"{SCHEME}{self.bucket}/{self.prefix}".rstrip("/")

    def read_all(self) -> list[RunRecord]:
        """Return every record, by object name. A broken object is an error that names it."""
        keys = self._asked(self._keys)
        records = all_within(self._read, keys, who=self.where, at_once=READERS)
        refuse_twins(zip(records, (f"{SCHEME}{self.bucket}/{key}" for key in keys), strict=True))
        return records

    def check(self, record: RunRecord) -> None:
        """Refuse a record whose object name another record has. The same record twice is not an error."""
        key = self._key(record)
        if self._asked(lambda: self._exists(key)) and self._read(key) != record:
            raise taken(self._address(key), record)

    def add(self, record: RunRecord) -> str:
        """Write a record once and for all and return its address. Adding the same record twice is not an error."""
        key = self._key(record)
        text = json.dumps(record.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
        if not self._asked(lambda: self._written(key, text.encode())) and self._read(key) != record:
            raise taken(self._address(key), record)
        return self._address(key)

    def _key(self, record: RunRecord) -> str:
        return self.prefix + file_name(record)

    def _address(self, key: str) -> str:
        return f"{SCHEME}{self.bucket}/{key}"

    def _keys(self) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self.bucket, Prefix=self.prefix, Delimiter="/"
        )
        return [item["Key"] for page in pages for item in page.get("Contents", ()) if item["Key"].endswith(".json")]

    def _exists(self, key: str) -> bool:
        """Return whether the object exists. It lists, because a refused HEAD does not say why it was refused."""
        listed = self._client.list_objects_v2(Bucket=self.bucket, Prefix=key, MaxKeys=1)
        return any(item["Key"] == key for item in listed.get("Contents", ()))

    def _written(self, key: str, body: bytes) -> bool:
        """Write the object. Return False if the name is taken."""
        for attempt in range(TRIES):
            try:
                self._client.put_object(
                    Bucket=self.bucket, Key=key, Body=body, ContentType="application/json", IfNoneMatch="*"
                )
            except self._client.exceptions.ClientError as error:
                code = explain(error).code
                if code in ("PreconditionFailed", "412"):
                    return False
                if code != "ConditionalRequestConflict" or attempt == TRIES - 1:
                    raise
            else:
                return True
        raise AssertionError("the last try returns or raises")

    def _read(self, key: str) -> RunRecord:
        body = self._asked(lambda: self._body(key))
        where = self._address(key)
        if len(body) > RECORD_LIMIT_BYTES:
            raise StoreError(f"{where}: has {len(body) / 1e6:.1f} MB, which no run record has.", fix=_FIX)
        try:
            text = body.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise StoreError(f"{where}: is not UTF-8 text (byte {error.start}).", fix=_FIX) from error
        return parse_model(RunRecord, parse_mapping(text, where=where, fix=_FIX), where=where, text=text, fix=_FIX)

    def _body(self, key: str) -> bytes:
        body: bytes = self._client.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        return body

    @cached_property
    def _client(self) -> Any:
        session = aws_session(extra="prices")
        from botocore.config import Config

        return session.client("s3", config=Config(max_pool_connections=READERS))

    def _asked(self, question: Callable[[], Answer]) -> Answer:
        """Ask S3. Explain a refusal in plain words."""
        client_error, library_error = _boto_errors()
        try:
            return within(question, who=self.where)
        except (client_error, library_error) as error:
            problem = explain(error)
            kind = NodeError if problem.outage else StoreError
            raise kind(f"{self.where}: {problem.reason}.", fix=problem.fix) from error


def _boto_errors() -> tuple[Any, Any]:
    try:
        from botocore.exceptions import BotoCoreError, ClientError
    except ModuleNotFoundError as error:
        raise MissingExtraError("boto3, which a run store on S3 needs,", "prices") from error
    return ClientError, BotoCoreError


SETTINGS_NAME = "settings.yaml"
SETTINGS_FIX = "Write one line: runs: s3://bucket/prefix, or a folder."


def _named(place: str) -> str:
    if not place.isprintable():
        raise ValueError("holds a control character, which no folder or bucket has")
    return place


class Settings(Frozen):
    """Contents of a workspace's `settings.yaml`, which a team shares."""

    runs: Annotated[Text, AfterValidator(_named)] | None = None
    """`s3://bucket/prefix`, or a folder (relative to the workspace).

    The default is the folder `runs` of the workspace.
    """


def open_store(workspace: Path) -> RunStore:
    """Open the run store: `$PLANNER_RUNS`, otherwise `runs` of the workspace's settings, otherwise its folder `runs`.

    Reads only the settings, and imports nothing of AWS.
    """
    named = os.environ.get("PLANNER_RUNS")
    if named:
        return S3Store(named) if _is_remote(named) else _folder_elsewhere(Path(named), "PLANNER_RUNS")
    path = workspace / SETTINGS_NAME
    chosen = read_model(Settings, path, fix=SETTINGS_FIX).runs if exists_in_workspace(path) else None
    if chosen is not None and _is_remote(chosen):
        return S3Store(chosen)
    folder = workspace / (chosen or "runs")
    within = folder.resolve().is_relative_to(workspace.resolve())
    return FolderStore(folder) if within else _folder_elsewhere(folder, str(path))


def _folder_elsewhere(folder: Path, where: str) -> FolderStore:
    """Refuse a folder whose parent is missing: an unmounted disk would hide the team's runs."""
    if not folder.parent.is_dir():
        raise StoreError(
            f"{where}: the runs' folder {folder} lies in {folder.parent}, which is not there.",
            fix="Mount it, create it, or correct the name.",
        )
    return FolderStore(folder)


def _is_remote(place: str) -> bool:
    return "://" in place or place.startswith(SCHEME.rstrip("/"))
