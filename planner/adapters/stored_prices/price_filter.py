"""Filter for stored prices, as a condition of a query and for rows that are already built."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.model.prices.offer import Price

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
