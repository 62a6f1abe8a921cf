"""Loads the catalog: bundled files first, the user's own layered on top."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from planner.adapters.csv_rows import read_rows
from planner.adapters.documents import RECORD_LIMIT_BYTES, parse_mapping, parse_model, read_model, read_text
from planner.adapters.run_store import FolderStore
from planner.adapters.workspace import catalogs_dir
from planner.errors import InputError, StoreError
from planner.model.base import Frozen
from planner.model.catalog import Catalog, Defaults
from planner.model.hardware import Accelerator, Node
from planner.model.offer import Price, Site
from planner.model.run import RunRecord
from planner.model.workload import Preset


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


Named = TypeVar("Named", bound=_HasId)


def load_catalog(workspace: Path | None = None, *, bundled: Path | None = None) -> Catalog:
    """Read the bundled catalogs; `workspace` adds the user's sites, prices and runs."""
    root = bundled or catalogs_dir()
    sites = [read_model(Site, path) for path in sorted((root / "sites").glob("*.yaml"))]
    prices = _prices(root / "prices")
    runs = [read_run(path) for path in sorted((root / "runs").glob("*.json"))]
    own_runs: list[RunRecord] = []
    own_sites: list[Site] = []
    if workspace is not None and workspace.exists() and not workspace.is_dir():
        raise StoreError(f"{workspace}: the workspace is a file, not a folder.", fix="Name a folder with PLANNER_HOME.")
    if workspace is not None:
        own_sites = [read_model(Site, path) for path in sorted((workspace / "sites").glob("*.yaml"))]
        prices = _prices(workspace / "prices") + prices
        own_runs = FolderStore(workspace / "runs").read_all()
    bundled_runs = _by_id(runs, "run", root / "runs")
    own_by_id = _by_id(own_runs, "run", workspace / "runs" if workspace else root)
    taken = sorted(bundled_runs.keys() & own_by_id.keys())
    if taken:
        raise InputError(f"two runs have the id '{taken[0]}': one is bundled.", fix="Rename the one in your workspace.")
    presets = [read_model(Preset, path) for path in sorted((root / "workloads").glob("*.yaml"))]
    return Catalog(
        accelerators=_by_id(read_rows(Accelerator, root / "hardware" / "accelerators.csv"), "accelerator", root),
        nodes=_by_id(read_rows(Node, root / "hardware" / "nodes.csv"), "node", root),
        prices=tuple(prices),
        sites=_by_id(sites, "site", root) | _by_id(own_sites, "site", workspace or root),
        presets={preset.name: preset for preset in presets},
        runs=bundled_runs | own_by_id,
        bundled_runs=frozenset(bundled_runs),
        defaults=read_model(Defaults, root / "defaults.yaml"),
    )


def read_run(path: Path) -> RunRecord:
    """Read one RunRecord."""
    text = read_text(path, limit_bytes=RECORD_LIMIT_BYTES)
    return parse_model(RunRecord, parse_mapping(text, where=str(path)), where=str(path), text=text)


def _prices(folder: Path) -> list[Price]:
    return [row for path in sorted(folder.glob("*.csv")) for row in read_rows(Price, path)]


def _by_id(items: Iterable[Named], what: str, where: Path) -> dict[str, Named]:
    found: dict[str, Named] = {}
    for item in items:
        if item.id in found:
            raise InputError(f"{where}: two {what}s have the id '{item.id}'.", fix="Give one of them another id.")
        found[item.id] = item
    return found


class Alias(Frozen):
    """A name that a driver reports, and the accelerator it means: `catalogs/hardware/aliases.csv`."""

    name: str
    accelerator: str
    source: str


def accelerator_aliases(*, bundled: Path | None = None) -> dict[str, str]:
    """Map the names that drivers report to accelerator ids."""
    rows = read_rows(Alias, (bundled or catalogs_dir()) / "hardware" / "aliases.csv")
    return {row.name: row.accelerator for row in rows}
