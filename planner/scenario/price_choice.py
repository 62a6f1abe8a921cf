"""The price of a thing: which of several rows is selected."""

from __future__ import annotations

from collections.abc import Sequence

from planner.errors import NotFoundError
from planner.model.catalog import Catalog
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import Price, PriceKind, PriceOrigin

ANY_REGION = "any"
"""Of a price that is the same everywhere."""


def find_price(option: PlanOption, catalog: Catalog, *, where: str) -> Price | None:
    """Return the price row that the option means: the user's own, else that of the most trusted source.

    Of several, the newest; without a region, the cheapest of these. None where there is no such row: the option may
    still state a price of its own.
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
    """Return the row to believe of an instance on these terms, the user's own first; None where there is none.

    Without a region the cheapest; a row may state the reason why there is no price.
    """
    for layer in (catalog.own_prices, catalog.prices):
        price = _cheapest([row for row in layer if row.node == node_id], kind=kind, region=region)
        if price is not None:
            return price
    return None


def prices_of(node_id: str | None, catalog: Catalog) -> list[Price]:
    """Return every price row of an instance, the user's own first."""
    return [row for row in (*catalog.own_prices, *catalog.prices) if row.node == node_id]


def _cheapest(rows: list[Price], *, kind: PriceKind, region: str | None) -> Price | None:
    of_kind = [row for row in rows if row.price_kind is kind]
    matching = [row for row in of_kind if region in (None, row.region)]
    matching = matching or [row for row in of_kind if row.region == ANY_REGION]
    places: dict[str, list[Price]] = {}
    for row in matching:
        places.setdefault(row.region, []).append(row)
    current = [row for rows in places.values() for row in selected(rows)]
    return min(current, key=lambda row: (row.amount is None, row.amount or 0.0), default=None)


def selected(rows: Sequence[Price]) -> list[Price]:
    """Return, of one instance, kind and region, the rows that count; several only where they differ by zone.

    The user's own come first. Of the others, these are the newest rows of the most trusted origin (`PriceOrigin`) that
    is not out of date: its newest row may be older than the newest of all by no more than such a price keeps.
    """
    own = [row for row in rows if row.origin is PriceOrigin.USER]
    rows = own or rows
    newest = max(row.as_of for row in rows)
    best = min(
        (row for row in rows if (newest - row.as_of).days <= row.stale_days),
        key=lambda row: (list(PriceOrigin).index(row.origin), -row.as_of.toordinal()),
    )
    return [row for row in rows if (row.origin, row.as_of) == (best.origin, best.as_of)]
