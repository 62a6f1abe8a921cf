"""Which rows of a price table are wanted: told from their cells, before a row is built and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from planner.adapters.price_search import Search
from planner.model.prices.offer import Price

Names = frozenset[str] | None


@dataclass(frozen=True)
class PriceFilter:
    """Each that is given must hold; None asks for nothing."""

    items: Names = None
    """As a plan names them: provider/instance_type."""
    providers: Names = None
    regions: Names = None
    kinds: Names = None
    accelerators: Names = None
    carried: Mapping[str, str] = field(default_factory=dict)
    """By item, the accelerator of the instances whose rows do not say it themselves."""
    search: Search | None = None
    """Of those that pass, only what may be among the cheapest."""

    @property
    def wants_nothing(self) -> bool:
        """Return whether no row can pass."""
        return self.items == frozenset()

    @property
    def _asks_for_nothing(self) -> bool:
        asked = (self.items, self.providers, self.regions, self.kinds, self.accelerators)
        return all(names is None for names in asked)

    def of_cells(self, header: Sequence[str]) -> Callable[[Sequence[str]], bool]:
        """Return the test of a table's rows; they must have as many cells as its header."""
        if self._asks_for_nothing:
            return lambda _: True
        provider, instance, region, kind = map(header.index, ("provider", "instance_type", "region", "price_kind"))
        card = header.index("accelerator") if "accelerator" in header else None

        def test(cells: Sequence[str]) -> bool:
            own = cells[card] if card is not None else None
            return self._holds(cells[provider], cells[instance], cells[region], cells[kind], own)

        return test

    def of_price(self, price: Price) -> bool:
        """Return whether a row that is already built passes."""
        return self._holds(price.provider, price.instance_type, price.region, price.price_kind.value, price.accelerator)

    def _holds(self, provider: str, instance: str, region: str, kind: str, accelerator: str | None) -> bool:
        if (
            (self.providers is not None and provider not in self.providers)
            or (self.regions is not None and region not in self.regions)
            or (self.kinds is not None and kind not in self.kinds)
        ):
            return False
        if self.items is None and self.accelerators is None:
            return True
        item = f"{provider}/{instance}"
        return (self.items is None or item in self.items) and (
            self.accelerators is None or (accelerator or self.carried.get(item)) in self.accelerators
        )


EVERYTHING = PriceFilter()
NOTHING = PriceFilter(items=frozenset())
