"""Search for the cheapest machines in the stored prices, by one query: `search.sql`."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

from planner.model.catalog import Catalog
from planner.model.prices.offer import stale_days
from planner.scenario.price_choice import LOOKED_AT, TIE_FRACTION, TIE_USD
from planner.scenario.region_groups import is_in

QUERY = Path(__file__).with_name("search.sql")


@dataclass(frozen=True)
class PriceSearch:
    """Search that reads the prices of a provider that may be among the cheapest, and counts the others."""

    regions: frozenset[str] | None = None
    """Names of regions, or of groups of them."""
    said_on: date | None = None
    """Today, if only what its source lists as available is searched."""
    known: Collection[str] = frozenset()
    """The catalog's machines. They differ in more than their accelerators."""
    standing: Collection[tuple[str, str, str]] = frozenset()
    """Machine, region and kind of the catalog's prices, which stored prices replace."""

    def beside(self, catalog: Catalog) -> PriceSearch:
        """Return the search beside a catalog: with its machines, and the prices that stored ones replace."""
        rows = (*catalog.prices, *catalog.own_prices)
        standing = frozenset((row.node, row.region, row.price_kind.value) for row in rows)
        return replace(self, known=catalog.nodes.keys() | {row.node for row in rows}, standing=standing)

    def parameters(self, stored_regions: Collection[str]) -> dict[str, object]:
        """Return the parameters of the query. `stored_regions` are those that have prices."""
        today = self.said_on or date.min
        fresh = {
            kind.value: (today - timedelta(days=stale_days(kind) if self.said_on else 0)).isoformat()
            for kind in LOOKED_AT
        }
        regions = None if self.regions is None else [name for name in stored_regions if is_in(name, self.regions)]
        return {
            "kinds": json.dumps(fresh),
            "regions": None if regions is None else json.dumps(regions),
            "said": self.said_on is not None,
            "known": json.dumps([item.split("/", 1) for item in self.known]),
            "standing": json.dumps([[*item.split("/", 1), region, kind] for item, region, kind in self.standing]),
            "tie_fraction": TIE_FRACTION,
            "tie_usd": TIE_USD,
        }
