"""Probes machines: writes the spec for a node and reads its result."""

from __future__ import annotations

from pathlib import Path

from planner.adapters.catalog import accelerator_aliases
from planner.errors import InputError
from planner.launcher.bench.bench import spec_of
from planner.launcher.bench.bench_settings import BenchSettings, ProbeSettings
from planner.launcher.bench.local import run_local
from planner.launcher.collect.probe_record import probe_record_of
from planner.model.catalog import Catalog
from planner.model.evidence.probe import ProbeRecord
from planner.model.network.workload import BenchWorkload, BusyDevice

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
