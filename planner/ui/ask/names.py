"""Lists what the question form offers: ids with readable names."""

from __future__ import annotations

from functools import lru_cache

from planner.decide.options.card_name import card_names
from planner.decide.options.display_name import provider_name
from planner.model.prices.offer import PriceKind
from planner.scenario.price_choice import ANY_REGION
from planner.scenario.unpublished_power import owning_not_modelled
from planner.ui.ask.question import StampedCatalog


@lru_cache(maxsize=4)
def networks(known: StampedCatalog) -> dict[str, str]:
    """Return the named networks, and the measured runs whose network is not known, which a plan can scale."""
    named = {name: name for name in known.catalog.presets}
    runs = known.catalog.runs.values()
    return named | {run.id: f"{run.workload} ({run.id})" for run in runs if run.architecture is None}


@lru_cache(maxsize=4)
def machines(known: StampedCatalog) -> dict[str, str]:
    """Return the cards that a plan may own machines with, and the catalog's own machines (sites)."""
    sites = known.catalog.sites.values()
    ownable = {
        name: text for name, text in cards(known).items() if not owning_not_modelled(known.catalog.accelerators[name])
    }
    return ownable | {site.id: site.name.removesuffix(", to be bought") for site in sites}


@lru_cache(maxsize=4)
def offers(known: StampedCatalog) -> dict[str, str]:
    """Return every offered machine, with its kind of price unless it is on demand."""
    catalog = known.catalog
    kinds = sorted({(row.node, row.price_kind) for row in (*catalog.own_prices, *catalog.prices)})
    names = {}
    for item, kind in kinds:
        node = catalog.nodes.get(item)
        if node is None or kind is PriceKind.HOSTED_TRAINING:
            continue
        provider = provider_name(item.partition("/")[0], catalog.providers, machine=item)
        machine = f"{node.accelerators}x {card_names({node.accelerator}).get(node.accelerator, node.accelerator)}"
        terms = "" if kind is PriceKind.ON_DEMAND else f", {kind.value.replace('_', ' ')}"
        names[f"{item}:{kind.value}"] = f"{provider}, {machine}{terms} ({item.partition('/')[2]})"
    return names


@lru_cache(maxsize=4)
def cards(known: StampedCatalog) -> dict[str, str]:
    """Return the names of cards by id."""
    names = card_names(set(known.catalog.accelerators))
    return {name: names[name] for name in known.catalog.accelerators}


@lru_cache(maxsize=4)
def regions(known: StampedCatalog) -> list[str]:
    """Return the regions of all prices, without that of prices that are the same everywhere."""
    rows = (*known.catalog.own_prices, *known.catalog.prices)
    return sorted({row.region for row in rows} - {ANY_REGION})


@lru_cache(maxsize=4)
def providers(known: StampedCatalog) -> dict[str, str]:
    """Return the names of providers by id."""
    rows = (*known.catalog.own_prices, *known.catalog.prices)
    return {name: provider_name(name, known.catalog.providers) for name in sorted({row.provider for row in rows})}
