"""Catalog of the pages. It is read again when the workspace changes, and includes the visit's own runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path

import streamlit as st

from planner import clock
from planner.adapters.bundled_tables import read_matmul_ceilings
from planner.adapters.catalog import load_catalog
from planner.adapters.run_store import FolderStore
from planner.adapters.settings import open_store
from planner.adapters.user_text import note_secret, secrets_noted
from planner.adapters.workspace import workspace_dir
from planner.audit.run_audit import with_audited_runs
from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.ui.ask.question import StampedCatalog
from planner.ui.scenario import run_of_upload, with_run
from planner.use_cases.catalogs import open_catalog

REMOTE_SECONDS = 300
"""Seconds after which a store on another machine is read again."""
Stamp = tuple[object, ...]


def known_catalog(runs: Sequence[RunRecord], today: date) -> StampedCatalog:
    """Return the catalog of the workspace with uploaded runs. Raises InputError for a wrong file of the workspace."""
    stamp = (*_stamp(workspace_dir()), today)
    for sentence in _opened(stamp)[1]:  # every visit is warned, even if the catalog is cached
        note_secret(sentence)
    return _with_runs(stamp, tuple(run.model_dump_json() for run in runs))


def visited_catalog(problems: list[InputError], today: date) -> StampedCatalog:
    """Return the catalog with the visit's uploaded runs. Unreadable runs are reported and left out."""
    runs: list[RunRecord] = []
    for file in st.session_state.get("run_files") or []:
        try:
            record = run_of_upload(file.name, file.getvalue())
            known_catalog((*runs, record), today)
        except InputError as error:
            problems.append(error)
        else:
            runs.append(record)
    try:
        return known_catalog(runs, today)
    except InputError as error:
        problems.append(error)
        return StampedCatalog(("bundled", today), load_catalog())


@lru_cache(maxsize=4)
def _opened(_: Stamp) -> tuple[Catalog, tuple[str, ...]]:
    """Return the catalog at a stamp, and the warnings about secrets in its files."""
    with secrets_noted() as noted:
        catalog = open_catalog()
    return catalog, tuple(noted)


@lru_cache(maxsize=16)
def _with_runs(stamp: Stamp, runs: tuple[str, ...]) -> StampedCatalog:
    catalog, _ = _opened(stamp)
    for run in runs:
        catalog = with_run(catalog, RunRecord.model_validate_json(run))
    return StampedCatalog((stamp, runs), with_audited_runs(catalog, read_matmul_ceilings()))


def _stamp(workspace: Path) -> Stamp:
    """Return a value that changes with the workspace or the store of its runs."""
    store = open_store(workspace)
    if isinstance(store, FolderStore):
        return (*_files(workspace), *_files(store.folder))
    return (*_files(workspace), store.where, int(clock.now().timestamp()) // REMOTE_SECONDS)


def _files(folder: Path) -> Stamp:
    """Return the number of files in a folder, and the time of the latest change."""
    files = [path.stat() for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return (str(folder), len(files), max((file.st_mtime_ns for file in files), default=0))
