"""Conditions on stored prices: a filter for queries and rows, and the search for the cheapest (`search.sql`)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path

from planner.model.catalog import Catalog
from planner.model.prices.offer import Price, stale_days
from planner.scenario.price_choice import SEARCHED_KINDS, TIE_FRACTION, TIE_USD
from planner.scenario.region_groups import is_in

Names = frozenset[str] | None


@dataclass(frozen=True)
class PriceFilter:
    """Conditions that must all hold; None sets no condition."""

    items: Names = None
    """Items as a plan names them: provider/instance_type."""
    providers: Names = None
    regions: Names = None
    kinds: Names = None
    accelerators: Names = None
    carried: Mapping[str, str] = field(default_factory=dict)
    """Accelerator by item, for instances whose rows do not state it."""

    @property
    def wants_nothing(self) -> bool:
        """Return whether no row can pass."""
        return self.items == frozenset()

    def condition(self) -> tuple[str, dict[str, str]]:
        """Return the condition of a query over the tables `term` and `offer`, with its parameters."""
        conditions, parameters = ["TRUE"], {}
        for column, names in (
            ("provider", self.providers), ("region", self.regions), ("price_kind", self.kinds),
            ("(provider, instance_type)", self.items),
        ):  # fmt: skip
            if names is not None:
                name = column.strip("()").rpartition(" ")[2]
                values = "value ->> 0, value ->> 1" if column.startswith("(") else "value"
                conditions.append(f"{column} IN (SELECT {values} FROM json_each(:{name}))")
                parameters[name] = json.dumps(
                    [item.split("/", 1) if column.startswith("(") else item for item in names]
                )
        if self.accelerators is not None:
            carry = [item for item, accelerator in self.carried.items() if accelerator in self.accelerators]
            conditions.append(
                "(offer.accelerator IN (SELECT value FROM json_each(:accelerators)) OR (offer.accelerator IS NULL"
                " AND provider || '/' || instance_type IN (SELECT value FROM json_each(:carry))))"
            )
            parameters |= {"accelerators": json.dumps([*self.accelerators]), "carry": json.dumps(carry)}
        return " AND ".join(conditions), parameters

    def of_price(self, price: Price) -> bool:
        """Return whether a row that is already built passes."""
        return (
            (self.providers is None or price.provider in self.providers)
            and (self.regions is None or price.region in self.regions)
            and (self.kinds is None or price.price_kind.value in self.kinds)
            and (self.items is None or price.node in self.items)
            and (self.accelerators is None or (price.accelerator or self.carried.get(price.node)) in self.accelerators)
        )


EVERYTHING = PriceFilter()
NOTHING = PriceFilter(items=frozenset())


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

    def for_catalog(self, catalog: Catalog) -> PriceSearch:
        """Return the search with a catalog's machines and with those of its prices that stored prices replace."""
        rows = (*catalog.prices, *catalog.own_prices)
        standing = frozenset((row.node, row.region, row.price_kind.value) for row in rows)
        return replace(self, known=catalog.nodes.keys() | {row.node for row in rows}, standing=standing)

    def parameters(self, stored_regions: Collection[str]) -> dict[str, object]:
        """Return the parameters of the query. `stored_regions` are those that have prices."""
        today = self.said_on or date.min
        fresh = {
            kind.value: (today - timedelta(days=stale_days(kind) if self.said_on else 0)).isoformat()
            for kind in SEARCHED_KINDS
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
