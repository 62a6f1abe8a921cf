"""Loads the catalog: bundled files first, the user's own on top."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from planner import clock
from planner.adapters.bundled_files import bundled_once
from planner.adapters.bundled_tables import known_presets
from planner.adapters.csv_rows import read_rows
from planner.adapters.documents import RECORD_LIMIT_BYTES, parse_model, read_model, read_own_model, read_text
from planner.adapters.evidence import CALIBRATION, FOLDER, IMAGE_CALIBRATION, read_calibration, read_practice
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.price_file import checked_prices, read_prices
from planner.adapters.run_store import probe_store
from planner.adapters.settings import open_store
from planner.adapters.stored_prices.price_filter import EVERYTHING, PriceFilter, PriceSearch
from planner.adapters.stored_prices.price_store import PriceStore
from planner.adapters.workspace import catalogs_dir, exists_in_workspace
from planner.cost.cloud.price_level import price_bands
from planner.errors import InputError, StoreError
from planner.model.base import Frozen
from planner.model.catalog import Catalog
from planner.model.defaults import Defaults
from planner.model.evidence.calibration import Calibration
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Accelerator, Link, Node
from planner.model.hardware.storage import StorageKind
from planner.model.network.workload import Preset
from planner.model.owning.country import Country, ElectricityPrice
from planner.model.owning.site import Site
from planner.model.owning.tariff import Tariff
from planner.model.plan.convergence import ConvergenceSpread
from planner.model.prices.offer import TRUST, Price, PriceOrigin
from planner.model.prices.service import Provider, ServiceRate
from planner.scenario.own_machine import offered_node
from planner.scenario.price_lists import with_marks


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


ALIASES = Path("hardware", "aliases.csv")
WORKLOAD_FIX = "Its keys are those of catalogs/workloads/*.yaml."
DEFAULTS_FIX = "Its blocks and keys are those of catalogs/defaults.yaml."
WithId = TypeVar("WithId", bound=_HasId)
TableRow = TypeVar("TableRow", Accelerator, Node, Provider, StorageKind, ConvergenceSpread, Country, ElectricityPrice)
YamlRecord = TypeVar("YamlRecord", Site, Tariff)


def load_catalog(workspace: Path | None = None, *, wanted: PriceFilter = EVERYTHING) -> Catalog:
    """Read the bundled catalogs and layer the workspace on top, with the `wanted` prices that refreshes have fetched.

    The workspace has the same folders and files. Its nodes, sites, accelerators and workloads replace bundled ones of
    the same id. Its prices and defaults are preferred. Its runs are added, and none may have a bundled run's id.
    """
    if workspace is not None and workspace.exists() and not workspace.is_dir():
        raise StoreError(f"{workspace}: the workspace is a file, not a folder.", fix="Name a folder with PLANNER_HOME.")
    root = catalogs_dir()
    roots = [root] if workspace is None else [root, workspace]
    bundled_runs = _by_id([read_run(path) for path in sorted((root / "runs").glob("*.json"))], "run", root / "runs")
    own_runs = {} if workspace is None else _own_runs(workspace, bundled_runs)
    nodes, prices = _layered(Node, roots, "nodes.csv"), _prices(root / "prices")
    bundled_sites, own_sites = (_layered_files(Site, layers, "sites") for layers in (roots[:1], roots[1:]))
    sites = bundled_sites | own_sites
    networks = root / "networks.csv"
    presets = known_presets(networks) if networks.is_file() else []
    presets += [
        read_model(Preset, path, fix=WORKLOAD_FIX) for layer in roots for path in _yaml_files(layer / "workloads")
    ]
    accelerators = _layered(Accelerator, roots, "accelerators.csv")
    own_prices = () if workspace is None else tuple(_own_prices(workspace / "prices", nodes, prices))
    offered = {node.id: node for row in own_prices if (node := offered_node(row, accelerators)) is not None}
    catalog = Catalog(
        accelerators=accelerators,
        aliases=accelerator_aliases(),
        nodes=offered | nodes,
        prices=tuple(prices),
        own_prices=own_prices,
        services=tuple(row for layer in reversed(roots) for row in _services(layer)),
        providers=_layered(Provider, roots, "providers.csv", folder=""),
        sites=sites,
        bundled_sites=frozenset(name for name, site in bundled_sites.items() if sites[name] is site),
        storage=_layered(StorageKind, roots, "storage.csv", folder=""),
        convergence=_layered(ConvergenceSpread, roots, "convergence.csv", folder=""),
        tariffs=_layered_files(Tariff, roots, "tariffs"),
        countries=_layered(Country, roots, "countries.csv", folder=""),
        electricity_prices=_layered(ElectricityPrice, roots, "electricity.csv", folder=""),
        presets={preset.name: preset for preset in presets},
        runs=bundled_runs | own_runs,
        probes={} if workspace is None else {probe.id: probe for probe in probe_store(workspace).read_all()},
        bundled_runs=frozenset(bundled_runs),
        defaults=_defaults(roots),
        calibration=_calibration(root / FOLDER / CALIBRATION),
        image_calibration=_calibration(root / FOLDER / IMAGE_CALIBRATION),
        practice=read_practice(root),
    )
    return catalog if workspace is None else with_fetched_prices(catalog, workspace, wanted)


def with_fetched_prices(catalog: Catalog, workspace: Path, wanted: PriceFilter) -> Catalog:
    """Add fetched prices that are wanted, and nodes for their instances; mark bundled prices that lists now lack."""
    if wanted.wants_nothing:
        return catalog
    return _with_prices(catalog, store := PriceStore(workspace), store.current(wanted))


def with_cheapest_fetched_prices(catalog: Catalog, workspace: Path, search: PriceSearch) -> Catalog:
    """Add the fetched prices that may be among the cheapest, and how many prices were skipped."""
    store = PriceStore(workspace)
    prices, unread = store.search(search.for_catalog(catalog))
    return _with_prices(catalog, store, prices).model_copy(update={"unread": tuple(unread)})


def _with_prices(catalog: Catalog, store: PriceStore, prices: Sequence[Price]) -> Catalog:
    bundled, observed = with_marks(catalog.prices, prices, store.lists())
    nodes = observed_nodes(observed) | catalog.nodes
    return catalog.model_copy(update={"nodes": nodes, "prices": (*bundled, *observed)})


def _own_runs(workspace: Path, bundled_runs: Mapping[str, RunRecord]) -> dict[str, RunRecord]:
    store = open_store(workspace)
    own_runs = {run.id: run for run in store.read_all()}
    bundled_too = sorted(bundled_runs.keys() & own_runs.keys())
    if bundled_too:
        raise StoreError(
            f"{store.where}: a bundled run has the same id '{bundled_too[0]}'.",
            fix="Give the run in your store another id.",
        )
    return own_runs


def _calibration(path: Path) -> Calibration | None:
    return read_calibration(path) if path.is_file() else None


def _layered(
    model: type[TableRow], roots: Sequence[Path], name: str, *, folder: str = "hardware"
) -> dict[str, TableRow]:
    """Read a table in every layer. Rows of later layers replace rows of earlier ones."""
    rows_by_id: dict[str, TableRow] = {}
    for path in (layer / folder / name for layer in roots):
        if exists_in_workspace(path) or path.is_relative_to(roots[0]):
            rows_by_id |= _by_id(read_rows(model, path), model.__name__.lower(), path)
    return rows_by_id


def _layered_files(model: type[YamlRecord], roots: Sequence[Path], name: str) -> dict[str, YamlRecord]:
    """Read a folder of YAML files in every layer. Records of later layers replace records of earlier ones."""
    records_by_id: dict[str, YamlRecord] = {}
    for folder in (layer / name for layer in roots):
        read = read_model if folder.is_relative_to(catalogs_dir()) else read_own_model
        records_by_id |= _by_id(
            [
                read(model, path, fix=f"See its keys with: planner schema {model.__name__.lower()}")
                for path in _yaml_files(folder)
            ],
            model.__name__.lower(),
            folder,
        )
    return records_by_id


def _defaults(roots: Sequence[Path]) -> Defaults:
    """Read the last layer's defaults. A block that the user's file leaves out is taken from the bundled one."""
    return with_bundled_blocks(read_model(Defaults, _last_file(roots, "defaults.yaml"), fix=DEFAULTS_FIX))


def with_bundled_blocks(defaults: Defaults) -> Defaults:
    """Return the defaults with bundled blocks in place of null ones, which the user left out or an old lock lacks."""
    left_out = [name for name in Defaults.model_fields if getattr(defaults, name) is None]
    if not left_out:
        return defaults
    bundled = read_model(Defaults, catalogs_dir() / "defaults.yaml")
    return defaults.model_copy(update={name: getattr(bundled, name) for name in left_out})


def _services(layer: Path) -> list[ServiceRate]:
    path = layer / "services.csv"
    return read_rows(ServiceRate, path) if exists_in_workspace(path) else []


@bundled_once
def read_run(path: Path) -> RunRecord:
    """Read one RunRecord."""
    text = read_text(path, limit_bytes=RECORD_LIMIT_BYTES)
    return parse_model(RunRecord, parse_mapping(text, where=str(path)), where=str(path), text=text)


def _last_file(roots: Sequence[Path], name: str) -> Path:
    return next((layer / name for layer in reversed(roots) if exists_in_workspace(layer / name)), roots[0] / name)


def _yaml_files(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])


def _prices(folder: Path) -> list[Price]:
    return [row for path in sorted(folder.glob("*.csv")) for row in read_prices(path)]


def _own_prices(folder: Path, nodes: Mapping[str, Node], bundled: Sequence[Price]) -> list[Price]:
    paths = sorted(folder.glob("*.csv"))
    bands = price_bands(bundled, nodes) if paths else {}
    return [
        row
        for path in paths
        for row in checked_prices(path, nodes=nodes, bands=bands, origin=PriceOrigin.USER, today=clock.today())
    ]


def observed_nodes(prices: Iterable[Price]) -> dict[str, Node]:
    """Return a node for each instance that a price list describes: kind and number of accelerators, links unknown.

    If rows differ, use the newest row that is still listed, from the most trusted source.
    """
    rows: dict[str, Price] = {}
    for price in prices:
        known = rows.get(price.node)
        if price.stated_accelerators is not None and (known is None or _preference(price) < _preference(known)):
            rows[price.node] = price
    return {name: _observed_node(price) for name, price in rows.items()}


def _preference(price: Price) -> tuple[object, ...]:
    return price.unlisted_on is not None, TRUST[price.origin], -price.as_of.toordinal(), price.stated_accelerators


def _observed_node(price: Price) -> Node:
    assert price.stated_accelerators is not None, "only prices with accelerators are passed"
    accelerator, count = price.stated_accelerators
    return Node(
        id=price.node,
        name=f"{price.provider} {price.instance_type}",
        accelerator=accelerator,
        accelerators=count,
        link=Link.OTHER if count > 1 else Link.SINGLE,
        source=price.source,
        as_of=price.as_of,
    )


def _by_id(items: Iterable[WithId], what: str, where: Path) -> dict[str, WithId]:
    by_id: dict[str, WithId] = {}
    for item in items:
        if item.id in by_id:
            raise InputError(f"{where}: two {what}s have the id '{item.id}'.", fix="Give one of them another id.")
        by_id[item.id] = item
    return by_id


class Alias(Frozen):
    """A name that a driver reports, with its accelerator: a row of `catalogs/hardware/aliases.csv`."""

    name: str
    accelerator: str
    source: str


def accelerator_aliases() -> dict[str, str]:
    """Return accelerator ids by the names that drivers report."""
    return {row.name: row.accelerator for row in read_rows(Alias, catalogs_dir() / ALIASES)}
