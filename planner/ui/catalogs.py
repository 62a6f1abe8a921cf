"""The catalog that the pages answer from: read again when the workspace changes, with the visit's own runs on top."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path

from planner.adapters.matmul_ceilings import read_matmul_ceilings
from planner.adapters.workspace import workspace_dir
from planner.audit.run_audit import impossible_runs
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.ui.ask.question import Known
from planner.ui.scenario import with_run
from planner.use_cases.catalogs import open_catalog

Stamp = tuple[object, ...]


def known_catalog(runs: Sequence[RunRecord], today: date) -> Known:
    """Return the catalog of the workspace with uploaded runs; InputError where a file of the workspace is wrong."""
    return _with_runs((*_stamp(workspace_dir()), today), tuple(run.model_dump_json() for run in runs))


@lru_cache(maxsize=4)
def _opened(_: Stamp) -> Catalog:
    """Return the catalog as it stands at a stamp."""
    return open_catalog()


@lru_cache(maxsize=16)
def _with_runs(stamp: Stamp, runs: tuple[str, ...]) -> Known:
    catalog = _opened(stamp)
    for run in runs:
        catalog = with_run(catalog, RunRecord.model_validate_json(run))
    catalog = catalog.model_copy(update={"impossible_runs": impossible_runs(catalog, read_matmul_ceilings())})
    return Known((stamp, runs), catalog)


def _stamp(workspace: Path) -> Stamp:
    """Return how many files the workspace holds, and when the latest of them was written."""
    files = [path.stat() for path in workspace.rglob("*") if path.is_file()] if workspace.is_dir() else []
    return (str(workspace), len(files), max((file.st_mtime_ns for file in files), default=0))
