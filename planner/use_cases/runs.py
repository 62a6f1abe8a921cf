"""Finds and stores run records, and compares their scaling."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from planner.adapters.catalog import load_catalog
from planner.adapters.run_store import probe_store
from planner.adapters.settings import open_store
from planner.adapters.workspace import workspace_dir
from planner.errors import InputError
from planner.model.answer.sweep_answer import RatioDocument, SweepDocument
from planner.model.catalog import Catalog
from planner.model.evidence.probe import ProbeRecord
from planner.model.evidence.run import RunRecord
from planner.speed.throughput.scaling_table import hardware_ratio, scaling_table, too_good_against


def find_run(run_id: str, catalog: Catalog) -> RunRecord:
    """Return a run by id; `latest` is the newest run of the workspace."""
    if run_id == "latest":
        return newest_run(catalog)
    return catalog.find_run(run_id)


def newest_run(catalog: Catalog) -> RunRecord:
    """Return the workspace's newest run by the date and time in its id."""
    own = [run for run in catalog.runs.values() if run.id not in catalog.bundled_runs]
    if not own:
        raise InputError("the workspace holds no runs yet.", fix="Measure this machine with: planner bench cpu-smoke")
    return max(own, key=lambda run: (run.throughput.as_of or date.min, run.id.rsplit("-", 2)[-2:]))


def store_run(record: RunRecord, home: str | None = None) -> Path | str:
    """Write a record to the workspace. Raises InputError if a bundled run has its id."""
    return store_runs([record], home)[0]


def store_runs(records: Sequence[RunRecord], home: str | None = None) -> list[Path | str]:
    """Write records to the workspace. All ids are checked before the first is written."""
    bundled = load_catalog().runs
    taken = next((record.id for record in records if record.id in bundled), None)
    if taken is not None:
        raise InputError(f"a bundled run already has the id '{taken}'.", fix="Give the record another id.")
    store = open_store(workspace_dir(home))
    for record in records:
        store.check(record)
    return [store.add(record) for record in records]


def store_probe(record: ProbeRecord, home: str | None = None) -> Path:
    """Write a probe to the workspace, beside its runs."""
    return probe_store(workspace_dir(home)).add(record)


def scaling(run_ids: Sequence[str], catalog: Catalog) -> SweepDocument:
    """Put measured runs of one workload into a table of speed-up and efficiency."""
    return scaling_of([find_run(run_id, catalog) for run_id in run_ids])


def ratio(run_id: str, base_id: str, catalog: Catalog) -> RatioDocument:
    """Compare the accelerators of two measured runs of one workload."""
    return hardware_ratio(find_run(run_id, catalog), find_run(base_id, catalog))


def doubted_as_too_good(record: RunRecord, base: RunRecord) -> RunRecord:
    """Add a doubt to the record if it scales better than perfectly from `base`."""
    return record.model_copy(update={"verdict": (*record.verdict, *too_good_against(record, base))})


def scaling_of(records: Sequence[RunRecord]) -> SweepDocument:
    """Put a series of records into a table of speed-up and efficiency."""
    return scaling_table(records)
