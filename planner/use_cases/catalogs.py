"""Opens the catalogs and counts what they hold; finds an accelerator by any of its names."""

from __future__ import annotations

from datetime import date

from planner.adapters.catalog import accelerator_aliases, load_catalog
from planner.adapters.workspace import workspace_dir
from planner.errors import NotFoundError
from planner.model.catalog import Catalog
from planner.model.hardware import Accelerator
from planner.model.offer import Price


def open_catalog(home: str | None = None) -> Catalog:
    """Return the bundled catalogs with the user's workspace layered on top, less the offers that have run out."""
    catalog = load_catalog(workspace_dir(home))
    return catalog.model_copy(update={"prices": _valid(catalog.prices), "own_prices": _valid(catalog.own_prices)})


def _valid(prices: tuple[Price, ...]) -> tuple[Price, ...]:
    """Drop prices whose window (`valid_until`) is over; one that is still to come may be planned with."""
    today = date.today()
    return tuple(price for price in prices if price.valid_until is None or today <= price.valid_until)


def find_accelerator(name: str, catalog: Catalog) -> Accelerator:
    """Return an accelerator by its id, or by a name that drivers and clouds give it."""
    known = {key.casefold(): found for key, found in catalog.accelerators.items()}
    spelled = accelerator_aliases().get(name, name)
    found = known.get(spelled.casefold())
    if found is None:
        raise NotFoundError("accelerator", name, catalog.accelerators, fix="See catalogs/hardware/accelerators.csv")
    return found


def catalog_counts(catalog: Catalog) -> dict[str, int]:
    """Count what the catalog holds."""
    return {
        "accelerators": len(catalog.accelerators),
        "nodes": len(catalog.nodes),
        "prices": len(catalog.prices),
        "sites": len(catalog.sites),
        "tariffs": len(catalog.tariffs),
        "workloads": len(catalog.presets),
        "bundled runs": len(catalog.bundled_runs),
        "own runs": len(catalog.runs) - len(catalog.bundled_runs),
    }
