"""Finds the run that a user names: a log, a result, a record, or the id of a stored run."""

from __future__ import annotations

from pathlib import Path

from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.use_cases.expectations import expect_from
from planner.use_cases.importing.imported_runs import records_of
from planner.use_cases.importing.run_facts import Stated
from planner.use_cases.run_files import read_run_file, records_in
from planner.use_cases.runs import find_run

DOCUMENTS = (".json", ".yaml", ".yml")


def run_named(name: str, stated: Stated, catalog: Catalog) -> RunRecord:
    """Return the run that a path or an id means. Nothing is stored."""
    path = Path(name)
    if not path.exists():
        return find_run(name, catalog)
    if path.suffix in DOCUMENTS and path.is_file():
        try:
            found = records_in(path, expect_from(catalog))
        except InputError as error:
            try:
                found = records_of(path, stated, catalog)
            except InputError as other:
                raise (error if _is_a_record(path) else other) from None
    else:
        found = records_of(path, stated, catalog)
    if len(found) > 1:
        raise InputError(f"{name}: holds {len(found)} runs.", fix="Name one log.")
    return found[0]


def _is_a_record(path: Path) -> bool:
    """Return True if a file claims to be one of the planner's, so that its faults as a record are the error to show."""
    try:
        return "schema_version" in read_run_file(path)
    except InputError:
        return False
