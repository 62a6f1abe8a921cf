"""Complete price list of a provider on a day, and the prices that a search did not read."""

from __future__ import annotations

from planner.model.base import Count, Day, Frozen, Id, Text
from planner.model.prices.offer import Price, PriceKind, PriceOrigin

EVERYWHERE = "*"


class ListRead(Frozen):
    """One row of `prices/lists.csv` of the workspace."""

    provider: Id
    origin: PriceOrigin
    price_kind: PriceKind
    region: Text = EVERYWHERE
    """Region whose machines the list contains, or `*` for all."""
    read_on: Day

    def covers(self, price: Price) -> bool:
        """Return whether the list would contain the row's machine if its provider still had it on these terms."""
        return (
            self.provider == price.provider
            and self.price_kind is price.price_kind
            and self.region in (EVERYWHERE, price.region)
        )


class Unread(Frozen):
    """Number of a provider's instances with equal accelerators."""

    provider: Id
    accelerator: Id
    accelerators: Count
    price_kind: PriceKind
    instances: Count
    nobody_says: bool = False
    """True if they were skipped because their availability is not stated, false because others cost no more."""
