"""Selects the price row of an instance among several rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from planner.errors import NotFoundError
from planner.model.catalog import Catalog
from planner.model.defaults import PriceDefaults
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import FAST_KINDS, STALE_DAYS, TRUST, Price, PriceKind, PriceOrigin
from planner.scenario.observed_price import FROM_FILES, LATELY_DAYS, median_of, median_row
from planner.scenario.price_lists import listed_of
from planner.scenario.region_groups import is_in
from planner.scenario.rows_by_node import rows_by_node

ANY_REGION = "any"
"""Region of a price that is the same everywhere."""
SEARCHED_KINDS = (PriceKind.ON_DEMAND, PriceKind.CAPACITY_BLOCK, PriceKind.SPOT, PriceKind.MARKETPLACE)
"""Kinds of price that a search considers: they end with the work (a block with its day or week).

Kinds with a longer term need a decision, so only a plan that names them uses them.
"""
TIE_FRACTION = 0.001
TIE_USD = 0.01
"""Prices up to this fraction, or this amount, above the lowest count as equal. Below 1 USD the amount is 1 % of it."""


def find_price(option: PlanOption, catalog: Catalog, *, where: str) -> Price | None:
    """Return the price row of an option's instance: the user's own, otherwise that of the most trusted source.

    In each region the newest row counts; for spot, the median of recent observations. An option without a region takes
    the cheapest region. Returns None if there is no such row: the option may still state its own price.
    """
    rows = prices_of(option.offer, catalog)
    regions = sorted({row.region for row in rows})
    if option.region is not None and rows and option.region not in regions and regions != [ANY_REGION]:
        if any(own is not None for own in (option.usd_per_hour, option.local_per_hour, option.usd_per_million_tokens)):
            return None
        raise NotFoundError(
            f"price of {option.offer} in region", option.region, regions, where=f"{where}.region",
            fix=f"Known regions: {', '.join(regions)}; or give a price of your own.",
        )  # fmt: skip
    return current_price(option.offer, catalog, kind=option.price or PriceKind.ON_DEMAND, region=option.region)


def current_price(node_id: str | None, catalog: Catalog, *, kind: PriceKind, region: str | None) -> Price | None:
    """Return the row to use for an instance and kind of price, the user's own first; None if there is none.

    Without a region it is the cheapest region's. A row without an amount states why there is no price.
    """
    for layer in (catalog.own_prices, catalog.prices):
        rows = [row for row in rows_by_node(layer).get(node_id, []) if row.price_kind is kind]
        if region is not None:
            listed = listed_of([row for row in rows if row.region in (region, ANY_REGION)])
            rows = [row for row in listed if row.region == region] or list(listed)
        price = _cheapest(rows, defaults=catalog.defaults.prices)
        if price is not None:
            return price
    return None


def prices_by_terms(
    catalog: Catalog,
    kinds: Collection[PriceKind],
    *,
    regions: Collection[str] | None = None,
    said_on: date | None = None,
) -> Iterator[tuple[str, PriceKind, Price]]:
    """Yield every instance and kind of price with the row to use, as `current_price` finds it, for all at once.

    `regions` limits the search. `said_on` (today) prefers regions whose source says that the machine is available.
    """
    grouped: dict[tuple[str, PriceKind], tuple[list[Price], list[Price]]] = {}
    for layer, rows in enumerate((catalog.own_prices, catalog.prices)):
        for row in rows:
            if row.price_kind in kinds and (regions is None or is_in(row.region, regions)):
                grouped.setdefault((row.node, row.price_kind), ([], []))[layer].append(row)
    for (node, kind), layers in grouped.items():
        for layered in layers:
            price = _cheapest(layered, defaults=catalog.defaults.prices, said_on=said_on)
            if price is not None:
                yield node, kind, price
                break


def prices_of(node_id: str | None, catalog: Catalog) -> list[Price]:
    """Return every price row of an instance, the user's own first."""
    return [row for layer in (catalog.own_prices, catalog.prices) for row in rows_by_node(layer).get(node_id, [])]


@dataclass(frozen=True)
class _ComparedPrice:
    """A row compared with the newest one of its instance and kind."""

    row: Price
    usd: float
    """Price for the comparison: the stated one times a factor that grows with the days for which it is outdated."""
    may_be_available: bool
    """False if a source that is not outdated says that the machine is not available."""


def _cheapest(rows: Sequence[Price], *, defaults: PriceDefaults | None, said_on: date | None = None) -> Price | None:
    """Return the price of the cheapest region for one instance and kind; None without rows.

    Sold-out machines come last, and after them those missing from a later complete list of the provider. An outdated
    price competes with fresh ones at a penalty that grows with its age. Among prices within a thousandth or a cent of
    the lowest, the newest is taken. A spot price over 30 days older than the newest is not compared at all, because
    spot prices may have risen since.
    """
    rows_by_region: dict[str, list[Price]] = {}
    for row in listed_of(rows):
        rows_by_region.setdefault(row.region, []).append(row)
    current = [row for region_rows in rows_by_region.values() for row in _region_rows(region_rows)]
    if said_on is not None:
        current = [row for row in current if row.available and not row.is_stale(said_on)] or current
    newest = max((row.as_of for row in current if row.amount is not None), default=None)
    if newest is None:
        return current[0] if current else None
    prices = []
    for row in current:
        days = (newest - row.as_of).days
        if row.amount is None or (row.price_kind in FAST_KINDS and days > STALE_DAYS):
            continue
        outdated_days = days - row.stale_days
        factor = 1.0 if defaults is None else defaults.firm_factor(outdated_days)
        prices.append(
            _ComparedPrice(row, row.amount * factor, may_be_available=row.available is not False or outdated_days > 0)
        )
    prices = [price for price in prices if price.may_be_available] or prices
    least = min(price.usd for price in prices)
    most = least + max(TIE_FRACTION * least, min(TIE_USD, 0.01 * least))
    return min(
        (price.row for price in prices if price.usd <= most), key=lambda row: (-row.as_of.toordinal(), row.amount)
    )


def in_use(rows: Sequence[Price]) -> list[Price]:
    """Return the rows of one instance, kind and region whose price a plan uses; for spot, the row with the median."""
    chosen = selected(rows)
    return [median_row(chosen)] if chosen[0].price_kind in FAST_KINDS else chosen


def _region_rows(rows: list[Price]) -> list[Price]:
    """Return the rows of one region to compare: for spot one row with the median price, otherwise one for each zone."""
    chosen = selected(rows)
    return [median_of(chosen)] if chosen[0].price_kind in FAST_KINDS else chosen


def selected(rows: Sequence[Price]) -> list[Price]:
    """Return the rows of one instance, kind and region that count; several if they differ by zone, or for spot.

    If the user has rows, only those count. Otherwise the newest rows of the most trusted origin (`PriceOrigin`) count.
    An origin is passed over if its newest row is older than the newest of all by more than the kind's `stale_days`.
    For spot and marketplace prices in files, all rows within `LATELY_DAYS` before the origin's newest count.
    """
    own = [row for row in rows if row.origin is PriceOrigin.USER]
    rows = own or listed_of(rows)
    newest = max(row.as_of for row in rows)
    best = min(
        (row for row in rows if (newest - row.as_of).days <= row.stale_days),
        key=lambda row: (TRUST[row.origin], -row.as_of.toordinal()),
    )
    lately = LATELY_DAYS if best.price_kind in FAST_KINDS and best.origin in FROM_FILES else 0
    return [row for row in rows if row.origin is best.origin and (best.as_of - row.as_of).days <= lately]
