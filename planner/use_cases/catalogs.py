"""Opens the catalogs, counts their rows, and finds an accelerator or a country by its names."""

from __future__ import annotations

from planner import clock
from planner.adapters.bundled_tables import read_matmul_ceilings
from planner.adapters.catalog import (
    accelerator_aliases,
    load_catalog,
    with_cheapest_fetched_prices,
    with_fetched_prices,
)
from planner.adapters.stored_prices.price_filter import EVERYTHING, NOTHING, PriceFilter, PriceSearch
from planner.adapters.workspace import workspace_dir
from planner.errors import NotFoundError, NotModelledError
from planner.model.catalog import Catalog
from planner.model.hardware.accelerator_name import accelerator_named, not_modelled, spelling
from planner.model.hardware.machines import Accelerator
from planner.model.plan.plan import Plan
from planner.model.prices.offer import Price

NAME_A_CARD = "Name a card of catalogs/hardware/accelerators.csv, or leave --own out to see what can be rented."


def open_catalog(home: str | None = None, *, wanted: PriceFilter = EVERYTHING) -> Catalog:
    """Return the bundled catalogs with the user's workspace on top, without expired offers.

    Only the wanted ones of the fetched prices are read.
    """
    return _valid(load_catalog(workspace_dir(home), wanted=wanted))


def with_wanted(catalog: Catalog, wanted: PriceFilter, home: str | None = None) -> Catalog:
    """Add fetched prices to a catalog that was opened without them."""
    return _valid(with_fetched_prices(catalog, workspace_dir(home), wanted))


def with_found_prices(plan: Plan, catalog: Catalog, home: str | None = None) -> Catalog:
    """Add the fetched prices that may be the cheapest under a plan's filters to a catalog without fetched prices."""
    from planner.decide.find.dozen import within_limits

    assert plan.find is not None
    filters = within_limits(plan.find, plan)
    regions = None if filters.region is None else frozenset(filters.region)
    said_on = clock.today() if filters.available else None
    return _valid(
        with_cheapest_fetched_prices(catalog, workspace_dir(home), PriceSearch(regions=regions, said_on=said_on))
    )


def catalog_for(plan: Plan, home: str | None = None) -> Catalog:
    """Return the catalog that a plan needs, with the audit's verdicts on its runs."""
    return audited(_needed(plan, home))


def audited(catalog: Catalog) -> Catalog:
    """Add the audit's verdicts on the runs to a catalog. Every answer to a plan needs them."""
    from planner.audit.run_audit import with_audited_runs

    return with_audited_runs(catalog, read_matmul_ceilings())


def _needed(plan: Plan, home: str | None) -> Catalog:
    """Return the catalog that a plan needs: with the fetched prices of its offers and of the machines of its runs.

    An unknown offer makes it read all prices, so that the error can name similar ids.
    """
    if plan.find is not None:
        return with_found_prices(plan, open_catalog(home, wanted=NOTHING), home)
    offers = {option.offer for option in plan.options if option.offer}
    catalog = open_catalog(home, wanted=NOTHING)
    machines = {run.hardware.node for run in catalog.runs.values() if run.hardware.node}
    narrowed = with_wanted(catalog, PriceFilter(items=frozenset(offers | machines)), home)
    known = narrowed.nodes.keys() | {row.node for row in (*narrowed.prices, *narrowed.own_prices)}
    return narrowed if offers <= known else open_catalog(home)


def _valid(catalog: Catalog) -> Catalog:
    """Drop prices whose window (`valid_until`) is over. A window in the future stays, because plans may use it."""
    today = clock.today()

    def valid(prices: tuple[Price, ...]) -> tuple[Price, ...]:
        return tuple(price for price in prices if price.valid_until is None or today <= price.valid_until)

    return catalog.model_copy(update={"prices": valid(catalog.prices), "own_prices": valid(catalog.own_prices)})


def find_accelerator(name: str, catalog: Catalog) -> Accelerator:
    """Return an accelerator by its id, or by a name that drivers, clouds or publications use."""
    accelerator = accelerator_named(name, catalog.accelerators, accelerator_aliases())
    reason = not_modelled(name) if accelerator is None else None
    if reason is not None:
        raise NotModelledError(f"{name}: {reason}.", fix=NAME_A_CARD)
    if accelerator is None:
        raise NotFoundError("accelerator", name, catalog.accelerators, fix="See catalogs/hardware/accelerators.csv")
    return accelerator


def accelerators_meant(text: str, catalog: Catalog) -> frozenset[str]:
    """Return the ids that a text means: of one name, or all with this beginning (H100: SXM, PCIe, NVL)."""
    asked = spelling(text)
    begun = frozenset(key for key in catalog.accelerators if asked in _beginnings(key))
    if text.casefold() in {key.casefold() for key in catalog.accelerators} or not begun:
        return frozenset((find_accelerator(text, catalog).id,))
    return begun


def _beginnings(accelerator: str) -> set[str]:
    """Return the beginnings of an id in plain spelling: h100 and h10080gb for H100-80GB-SXM."""
    parts = accelerator.split("-")
    return {spelling("-".join(parts[:count])) for count in range(1, len(parts))}


def catalog_counts(catalog: Catalog) -> dict[str, int]:
    """Count the rows of the catalog by kind."""
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


def country_code(text: str | None, catalog: Catalog) -> str | None:
    """Return the code of a known country. Raises NotFoundError for an unknown one."""
    if text is None:
        return None
    return catalog.find_country(text.strip().upper(), where="--country").id
