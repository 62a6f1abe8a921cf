"""Finds, reads and stores run records and probes of machines, and compares the scaling of runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from planner.adapters.catalog import accelerator_aliases, load_catalog
from planner.adapters.documents import RECORD_LIMIT_BYTES, check_version, parse_model, read_text
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.run_store import probe_store
from planner.adapters.settings import open_store
from planner.adapters.user_text import without_secrets
from planner.adapters.workspace import workspace_dir
from planner.errors import InputError
from planner.launcher.bench.bench import spec_of
from planner.launcher.bench.bench_settings import BenchSettings, ProbeSettings
from planner.launcher.bench.local import run_local
from planner.launcher.collect.expectations import GetExpected
from planner.launcher.collect.probe_record import is_probe, probe_record_of
from planner.launcher.collect.record import record_of
from planner.model.answer.sweep_answer import RatioDocument, SweepDocument
from planner.model.catalog import Catalog
from planner.model.evidence.probe import ProbeRecord
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import BenchWorkload, BusyDevice
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


NO_ID = re.compile(r"[\s()\[\],;]+")
SIZE = re.compile(r"(?<=\d) +(?=gi?b?\b)", re.IGNORECASE)
"""Blanks between a memory size and its unit."""
FIX = "Give a run record, or the result.json that the benchmark wrote."


def records_in(path: Path, expect: GetExpected) -> list[RunRecord]:
    """Return the runs in a file of any known kind. `expect` computes the expected values of benchmark results."""
    data = read_run_file(path)
    return READERS.get(str(data.get("kind")), _record)(data, str(path), expect)


def probe_in(path: Path) -> ProbeRecord | None:
    """Return the probe in a file, a record or a result; None for another kind of file."""
    data = read_run_file(path)
    if data.get("kind") == "result" and is_probe(data):
        return probe_record_of(data, aliases=accelerator_aliases(), where=str(path))
    if "kernels" in data:
        return parse_model(ProbeRecord, data, where=str(path), fix="See the schema with: planner schema probe")
    return None


def read_result(path: Path, *, fix: str) -> dict[str, Any]:
    """Read a benchmark result as plain data. Raises InputError with `fix` for another kind of file."""
    data = read_run_file(path)
    if data.get("kind") != "result":
        raise InputError(f"{path}: is not a benchmark result.", fix=fix)
    return data


def read_run_file(path: Path) -> dict[str, Any]:
    """Read a file of runs as plain data. Its `kind` names its content."""
    text = read_text(path, limit_bytes=RECORD_LIMIT_BYTES, fix=FIX)
    data = parse_mapping(text, where=str(path), fix=FIX)
    check_version(data, where=str(path))
    is_result = data.get("kind") == "result"  # its own model hides secrets
    return data if is_result else without_secrets(data, text=text, where=str(path))


def parse_run(data: dict[str, Any], *, where: str) -> RunRecord:
    """Validate a RunRecord. Its accelerator may contain spaces: "NVIDIA A100 80GB" is NVIDIA-A100-80GB."""
    hardware = data.get("hardware")
    if isinstance(hardware, dict) and isinstance(name := hardware.get("accelerator"), str):
        spelled = NO_ID.sub("-", SIZE.sub("", name)).strip("-")
        data = {**data, "hardware": {**hardware, "accelerator": spelled or name}}
    return parse_model(RunRecord, data, where=where, fix="See the schema with: planner schema run")


def _record(data: dict[str, Any], where: str, expect: GetExpected) -> list[RunRecord]:  # noqa: ARG001  as READERS want it
    return [parse_run(data, where=where)]


def _result(data: dict[str, Any], where: str, expect: GetExpected) -> list[RunRecord]:
    return [record_of([data], aliases=accelerator_aliases(), where=where, expect=expect)]


def _exported(data: dict[str, Any], where: str, expect: GetExpected) -> list[RunRecord]:  # noqa: ARG001
    listed = data.get("runs")
    if not isinstance(listed, list) or not all(isinstance(run, dict) for run in listed):
        raise InputError(f"{where}: runs: must be a list of run records.", fix="Write it with: planner runs export")
    return [parse_run(run, where=f"{where}: run {index}") for index, run in enumerate(listed)]


READERS: dict[str, Callable[[dict[str, Any], str, GetExpected], list[RunRecord]]] = {
    "result": _result,
    "runs": _exported,
}
"""Readers by the `kind` of a file. A run record has no kind."""


CARRIER = "cpu-smoke"
"""Workload in the spec of a probe. A spec needs a network and a probe trains none, so it is the smallest."""
NAME = "probe"
PATIENCE_S = 900.0


def probe_workload(catalog: Catalog) -> BenchWorkload:
    """Return the workload that fills the spec of a probe."""
    return catalog.find_preset(CARRIER).model_copy(update={"name": NAME})


def probe_settings(*, folder: str | None, busy_device: BusyDevice, devices: int = 1) -> BenchSettings:
    """Return the settings of a probe. `folder` holds data on the probed machine."""
    return BenchSettings(devices=devices, quick=True, busy_device=busy_device, probe=ProbeSettings(folder))


def probe_here(catalog: Catalog, settings: BenchSettings, *, work_dir: Path) -> ProbeRecord:
    """Measure this machine. Raises NodeError if nothing was measured, and InputError if the machine is busy."""
    assert settings.probe is not None
    folder = settings.probe.folder
    if folder is not None and not Path(folder).exists():
        raise InputError(f"--data {folder}: is not there.", fix="Name a folder or a file of your data.")
    absolute = None if folder is None else str(Path(folder).resolve())
    spec = spec_of(probe_workload(catalog), settings) | {"probe": {"folder": absolute}}
    result = run_local(spec, devices_per_node=settings.devices, work_dir=work_dir, timeout_s=PATIENCE_S)
    return probe_record_of(result, aliases=accelerator_aliases(), where=str(work_dir))
