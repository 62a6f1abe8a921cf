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
from planner.adapters.workspace import catalogs_dir, is_there
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
Named = TypeVar("Named", bound=_HasId)
Listed = TypeVar("Listed", Accelerator, Node, Provider, StorageKind, ConvergenceSpread, Country, ElectricityPrice)
Filed = TypeVar("Filed", Site, Tariff)


def load_catalog(workspace: Path | None = None, *, wanted: PriceFilter = EVERYTHING) -> Catalog:
    """Read the bundled catalogs and layer the workspace on top, with the `wanted` prices that refreshes have fetched.

    The workspace has the same folders and files. Its nodes, sites, accelerators and workloads replace bundled ones of
    the same id. Its prices and defaults are preferred. Its runs are added; a bundled id there is an error.
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
    return catalog if workspace is None else with_observed(catalog, workspace, wanted)


def with_observed(catalog: Catalog, workspace: Path, wanted: PriceFilter) -> Catalog:
    """Add what refreshes have fetched: the wanted prices, the instances that only they name, and unlisted prices."""
    if wanted.wants_nothing:
        return catalog
    return _with_stored(catalog, store := PriceStore(workspace), store.current(wanted))


def with_searched(catalog: Catalog, workspace: Path, search: PriceSearch) -> Catalog:
    """Add the fetched prices that may be among the cheapest, and how many prices were skipped."""
    store = PriceStore(workspace)
    prices, unread = store.search(search.beside(catalog))
    return _with_stored(catalog, store, prices).model_copy(update={"unread": tuple(unread)})


def _with_stored(catalog: Catalog, store: PriceStore, prices: Sequence[Price]) -> Catalog:
    bundled, observed = with_marks(catalog.prices, prices, store.lists())
    nodes = observed_nodes(observed) | catalog.nodes
    return catalog.model_copy(update={"nodes": nodes, "prices": (*bundled, *observed)})


def _own_runs(workspace: Path, bundled_runs: Mapping[str, RunRecord]) -> dict[str, RunRecord]:
    store = open_store(workspace)
    own_runs = {run.id: run for run in store.read_all()}
    taken = sorted(bundled_runs.keys() & own_runs.keys())
    if taken:
        raise StoreError(
            f"{store.where}: two runs have the id '{taken[0]}': the other one is bundled.",
            fix="Rename the one in your store.",
        )
    return own_runs


def _calibration(path: Path) -> Calibration | None:
    return read_calibration(path) if path.is_file() else None


def _layered(model: type[Listed], roots: Sequence[Path], name: str, *, folder: str = "hardware") -> dict[str, Listed]:
    """Read one table of every layer. Later layers replace earlier ones."""
    listed: dict[str, Listed] = {}
    for path in (layer / folder / name for layer in roots):
        if is_there(path) or path.is_relative_to(roots[0]):
            listed |= _by_id(read_rows(model, path), model.__name__.lower(), path)
    return listed


def _layered_files(model: type[Filed], roots: Sequence[Path], name: str) -> dict[str, Filed]:
    """Read one folder of YAML files of every layer. Later layers replace earlier ones."""
    filed: dict[str, Filed] = {}
    for folder in (layer / name for layer in roots):
        read = read_model if folder.is_relative_to(catalogs_dir()) else read_own_model
        filed |= _by_id(
            [
                read(model, path, fix=f"See its keys with: planner schema {model.__name__.lower()}")
                for path in _yaml_files(folder)
            ],
            model.__name__.lower(),
            folder,
        )
    return filed


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
    return read_rows(ServiceRate, path) if is_there(path) else []


@bundled_once
def read_run(path: Path) -> RunRecord:
    """Read one RunRecord."""
    text = read_text(path, limit_bytes=RECORD_LIMIT_BYTES)
    return parse_model(RunRecord, parse_mapping(text, where=str(path)), where=str(path), text=text)


def _last_file(roots: Sequence[Path], name: str) -> Path:
    return next((layer / name for layer in reversed(roots) if is_there(layer / name)), roots[0] / name)


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
    """Describe the instances that only a price list names: their number of accelerators, without links.

    If rows differ, uses the newest row that is still listed, from the most trusted source.
    """
    rows: dict[str, Price] = {}
    for price in prices:
        known = rows.get(price.node)
        if price.carries is not None and (known is None or _describes(price) < _describes(known)):
            rows[price.node] = price
    return {name: _observed_node(price) for name, price in rows.items()}


def _describes(price: Price) -> tuple[object, ...]:
    return price.unlisted_on is not None, TRUST[price.origin], -price.as_of.toordinal(), price.carries


def _observed_node(price: Price) -> Node:
    assert price.carries is not None, "others describe nothing"
    accelerator, count = price.carries
    return Node(
        id=price.node,
        name=f"{price.provider} {price.instance_type}",
        accelerator=accelerator,
        accelerators=count,
        link=Link.OTHER if count > 1 else Link.SINGLE,
        source=price.source,
        as_of=price.as_of,
    )


def _by_id(items: Iterable[Named], what: str, where: Path) -> dict[str, Named]:
    by_id: dict[str, Named] = {}
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
