"""Whether an old price is borne out: a second provider asks about the same for the same accelerator. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from planner.model.catalog import Catalog
from planner.model.prices.offer import FAST_KINDS, Price, PriceKind, PriceOrigin
from planner.scenario.allowed_offers import provider_of
from planner.scenario.price_choice import ANY_REGION

Asked = Mapping[str, Mapping[str, float]]
"""By accelerator and provider: the lowest USD per accelerator-hour on demand."""


def asked_of(prices: Iterable[tuple[str, PriceKind, Price]], catalog: Catalog) -> Asked:
    """Return what each provider asks, of prices by instance and kind."""
    asked: dict[str, dict[str, float]] = {}
    for name, kind, price in prices:
        node = catalog.nodes.get(name)
        if node is not None and kind is PriceKind.ON_DEMAND and price.usd_per_hour and price.unlisted_on is None:
            each = price.usd_per_hour / node.accelerators
            of_card = asked.setdefault(node.accelerator, {})
            of_card[provider_of(name)] = min(each, of_card.get(provider_of(name), each))
    return asked


def is_borne_out(name: str, price: Price, asked: Asked, catalog: Catalog, *, today: date) -> bool:
    """Return whether one may plan with a firm price: it is fresh, the user's own, or no second provider asks much more.

    Much: more than the doubt in an old price (`stale_factor`). A machine that nobody else rents out counts where its
    price names a region, as a provider's price list does, and a page that somebody copied does not.
    """
    defaults = catalog.defaults.prices
    if price.price_kind in FAST_KINDS or price.origin is PriceOrigin.USER or not price.is_stale(today):
        return True
    node = catalog.nodes[name]
    others = [usd for provider, usd in asked.get(node.accelerator, {}).items() if provider != provider_of(name)]
    if not others or not price.usd_per_hour or defaults is None:
        return price.region != ANY_REGION
    return min(others) <= defaults.stale_factor.value * price.usd_per_hour / node.accelerators
